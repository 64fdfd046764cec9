"""What was copied from a shell falls into commands and files."""

import pytest

from tools.linux.transcript import commands, sections


@pytest.mark.parametrize(("line", "command"), [
    ("$ lscpu", "lscpu"), ("# dmesg", "dmesg"), ("root@pve:~# lscpu | head", "lscpu | head"), ("(venv) u@h:/x$ ls", "ls"),
    ("[root@host ~]# ls", "ls"), (">>> os.cpu_count()", "os.cpu_count()"), ("==> /proc/cmdline <==", "/proc/cmdline"),
    ("/sys/block/md0/md/group_thread_cnt:0", "/sys/block/md0/md/group_thread_cnt"),
    ("/sys/devices/pci0000:00/0000:00:01.1/max_link_speed:8 GT/s", "/sys/devices/pci0000:00/0000:00:01.1/max_link_speed"),
    ("/proc/cmdline:BOOT_IMAGE=/boot/vmlinuz root=/dev/sda", "/proc/cmdline"),
])  # fmt: skip
def test_prompts_and_names_of_files_are_told_from_what_they_gave(line: str, command: str) -> None:
    assert commands(f"before\n{line}\nafter") == (command,)
    assert sections(f"before\n{line}\nafter")[0].lines == ("before",)


@pytest.mark.parametrize("line", ["#Requests: 160", "Price $ 5", "$", "x /sys/a/b:1", "[ 12.3] a"])
def test_other_lines_are_none(line: str) -> None:
    assert commands(line) == ()


def test_the_files_of_a_command_are_known() -> None:
    part = sections("$ cat /sys/fs/cgroup/cpu.max /proc/cmdline\nmax 100000\n")[1]
    assert part.paths == ("/sys/fs/cgroup/cpu.max", "/proc/cmdline")
    assert part.body == "max 100000\n"
