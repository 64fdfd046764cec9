"""The words of serving in Chinese: each is read as its English one, so that one reader serves both."""

from __future__ import annotations

import re

# A vocabulary, no translator: what is not in it stays, and is no topic of ours.
_WORDS = {
    "time to first token": "首字延迟 首字时间 首字耗时 首token延迟 首个token 首token 首字 首包",
    "prefill": "预填充 预填",
    "speculative": "投机解码 推测解码 投机采样 投机",
    "decode": "解码 生成速度 出字速度 出字 吐字 推理速度",
    "throughput": "吞吐量 吞吐",
    "prefix cache": "前缀缓存",
    "cuda graph": "cuda图 计算图",
    "GPU memory": "显存",
    "GPU": "显卡",
    "tail latency": "尾延迟 长尾",
    "jitter": "忽快忽慢 抖动 毛刺 不稳定",
    "stall": "卡顿 一卡一卡 停顿",
    "latency": "延迟 时延 响应时间",
    "crash": "崩溃 崩了 挂了 挂掉 宕机 死机 闪退",
    "hang": "卡死 卡住 死锁 假死 没反应",
    "start fails": "启动失败 启动不了 起不来 无法启动 启动不起来",
    "start": "启动",
    "load the model": "加载模型 模型加载",
    "slow": "变慢 掉速 降速 很慢 太慢 好慢 这么慢 那么慢 慢 很卡 太卡 好卡 有点卡 特别卡 这么卡",
    "dropped to": "下降到 掉到了 降到了 掉到 降到 跌到 降至 跌至",
    "drops": "下降 下滑 劣化",
    "before": "以前是 之前是 原来是 本来是 以前有 之前有 原来有 以前 之前 原来 过去 上周 昨天",
    "expected": "应该是 应该有 预期 正常是 正常应该",
    "now only": "现在只有 现在才 只剩",
    "only": "只有 仅有",
    "now": "现在 目前 今天",
    "concurrent requests": "个并发请求 路并发 个并发 并发请求",
    "concurrency": "并发数 并发量 并发",
    "each user": "每个用户 每人 单用户 每个请求",
    "users": "用户",
    "requests": "请求",
    "queue": "排队 队列",
    "power": "功耗 功率 供电",
    "throttling": "降频",
    "temperature": "温度 过热 太热",
    "PCIe link": "pcie链路 链路",
    "network": "网络 网卡",
    "RAM": "内存",
    "swap": "交换分区",
    "disk": "硬盘 磁盘",
    "driver": "驱动",
    "version": "版本",
    "upgrade": "升级",
    "update": "更新",
    "flags": "启动参数 参数",
    "config": "配置",
    "quantization": "量化",
    "attention backend": "注意力后端",
    "kernel": "算子 内核",
    "utilization": "利用率",
    "bandwidth": "带宽",
    "long context": "长上下文 长文本",
    "long prompts": "长提示词 长提示 长输入 长prompt",
    "collective": "集合通信 卡间通信 通信",
    "container": "容器 docker容器",
    "virtual machine": "虚拟机",
    "restart": "重启",
    "kill": "杀掉 杀死",
    "port": "端口",
    "server": "服务器 服务 机器 主机 节点",
    "model": "模型",
    "log": "日志",
    "error": "报错 错误",
    "problem": "问题 异常 故障",
    "performance": "性能",
    "check": "检查 诊断 排查 帮我看看 看看 看一下 查一下 分析",
    "compare": "对比 比较",
    "why": "为什么 为何 怎么回事 咋",
    "and": "和 与 跟",
}  # fmt: skip
_ENGLISH = {chinese: english for english, several in _WORDS.items() for chinese in several.split()}
_LONGEST_FIRST = re.compile(
    "|".join(map(re.escape, sorted(_ENGLISH, key=len, reverse=True))), re.IGNORECASE
)
_A_SECOND = (
    re.compile(
        r"每秒\s*(?:只有|只|才|能|有|大约|大概|约)*\s*([\d.,]+k?)\s*个?\s*tok\w*", re.IGNORECASE
    ),
    re.compile(r"([\d.,]+k?)\s*个?\s*tok\w*\s*(?:/|每)\s*秒钟?", re.IGNORECASE),
)
_HAN = r"[\u3400-\u9fff]"
_SEAM = re.compile(rf"(?<={_HAN})(?=[A-Za-z0-9])|(?<=[\w/%?])(?<!{_HAN})(?={_HAN})")


def is_chinese(text: str) -> bool:
    """Say whether a text holds a Chinese character."""
    return bool(re.search(_HAN, text))


def in_english_words(text: str) -> str:
    """Return a text with the words that we know in English, and seams between the scripts."""
    if not is_chinese(text):
        return text
    for form in _A_SECOND:
        text = form.sub(r" \1 tok/s", text)
    text = _LONGEST_FIRST.sub(lambda found: f" {_ENGLISH[found[0].lower()]} ", text)
    return _SEAM.sub(" ", text)
