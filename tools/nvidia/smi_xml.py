"""`nvidia-smi -q -x`: XML of drivers 418 to 595.

The text names a DTD (`<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">`), which is dropped
unread; a text that declares entities is no answer of nvidia-smi and is refused. One that is cut off
gives what was whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from tools.errors import Unreadable
from tools.nvidia.gpus import GpuProcess, Gpus
from tools.nvidia.report import Report, sample_of
from tools.nvidia.values import count, mib, moment, process_name, text

LARGEST = 8 << 20  # characters; sixteen GPUs with every process and clock take a fortieth of it
_DEEPEST = 24
_START = re.compile(r"<\?xml[^>]{0,200}\?>|<nvidia_smi_log\b")
_DOCTYPE = re.compile(r"<!DOCTYPE\s[^\[\]<>]{0,300}>")
_DECLARES = re.compile(r"<!(?:ENTITY|ELEMENT|ATTLIST|NOTATION|DOCTYPE)\b")
_ARGUMENTS = re.compile(r"(<process_name>[^<\n]{0,4096}?) -[^<\n]*(?=</process_name>)")
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass
class _Log:
    """One document while it is read: what stands in its head, and a report for each GPU."""

    head: Report = field(default_factory=dict)
    gpus: list[Report] = field(default_factory=list)
    processes: list[GpuProcess] | None = None


def is_xml(text_: str) -> bool:
    """Say whether a text is, or holds, a report of `nvidia-smi -q -x`."""
    return "<nvidia_smi_log" in text_


def without_arguments(text_: str) -> str:
    """Return the XML with processes named by their programs alone: arguments may hold secrets."""
    return _ARGUMENTS.sub(r"\1", text_)


def read_xml(text_: str) -> Gpus:
    """Return the GPUs of all documents in a text, in their order; raise Unreadable on a trap."""
    if len(text_) > LARGEST:
        raise Unreadable(
            f"XML of {len(text_) >> 20} MiB: nvidia-smi never prints more than {LARGEST >> 20}"
        )
    bare = _DOCTYPE.sub("", _NOT_XML.sub("", text_))
    if _DECLARES.search(bare):
        raise Unreadable("the XML declares entities of its own: that is no answer of nvidia-smi")
    documents = re.split(r"(?=<nvidia_smi_log\b)", _START.sub(_keep_root, bare))[1:]
    gpus = Gpus.united(_facts(_read(document)) for document in documents)
    if not gpus.samples and not gpus.attached:
        raise Unreadable("the XML ends before the first GPU tells anything")
    return gpus


def _keep_root(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("<nvidia") else ""


def _facts(log: _Log) -> Gpus:
    at, attached = moment(log.head.get("timestamp", "")), count(log.head.get("attached_gpus", ""))
    whole = attached is None or attached >= len(log.gpus)
    reports = [
        sample_of(report, index=n if whole else None, at=at) for n, report in enumerate(log.gpus)
    ]
    return Gpus(
        driver=text(log.head.get("driver_version", "")),
        cuda=text(log.head.get("cuda_version", "")),
        samples=tuple(sample for sample in reports if sample),
        processes=None if log.processes is None else tuple(log.processes),
        attached=attached,
    )


def _read(document: str) -> _Log:
    """Read as far as the document is whole: what comes after its end, or a break in it, is left."""
    log, stack = _Log(), list[str]()
    for event, element in _events(document):
        if event == "start":
            stack.append(element.tag)
            if len(stack) > _DEEPEST:
                break
            if element.tag == "gpu":
                log.gpus.append({"gpu_id": element.get("id", "")})
        else:
            _take(log, stack, element)
            stack.pop()
            if not stack:
                break
    return log


def _events(document: str) -> Iterator[tuple[str, ElementTree.Element]]:
    parser: Any = ElementTree.XMLPullParser(["start", "end"])  # its events are typed for all kinds
    try:
        for at in range(0, len(document), 1 << 16):
            parser.feed(document[at : at + (1 << 16)])
            yield from parser.read_events()
    except ElementTree.ParseError:
        return  # what was whole before the break has been given


def _take(log: _Log, stack: list[str], element: ElementTree.Element) -> None:
    """Put an element that has ended where it belongs."""
    if "gpu" not in stack:
        log.head.setdefault(element.tag, element.text or "")
    elif element.tag == "processes" and "mig_devices" not in stack:
        _take_processes(log, element)
    elif not len(element) and element.text and "processes" not in stack:
        path = "/".join(stack[stack.index("gpu") + 1 :])
        log.gpus[-1].setdefault(path, element.text.strip())
    if element.tag == "gpu":
        element.clear()


def _take_processes(log: _Log, element: ElementTree.Element) -> None:
    """Add the processes of one GPU; "N/A" in place of a list says that they are not told."""
    if not len(element) and text(element.text or "") is None and (element.text or "").strip():
        return
    log.processes = log.processes or []
    for each in element.iter("process_info"):
        pid = count(each.findtext("pid") or "")
        if pid is not None:
            name, used = each.findtext("process_name") or "", each.findtext("used_memory") or ""
            found = GpuProcess(
                gpu=len(log.gpus) - 1, pid=pid, name=process_name(name), used_mib=mib(used)
            )
            log.processes.append(found)
