"""Whatever tells of GPUs, read by its content: one text may hold several prints below each other."""

from __future__ import annotations

import re
from collections.abc import Callable

from tools.errors import Unreadable
from tools.nvidia.dcgm import is_dcgm, read_dcgm
from tools.nvidia.gpus import Gpus
from tools.nvidia.nvml_json import is_nvml, read_nvml
from tools.nvidia.refusal import is_foreign, is_refusal, refuse
from tools.nvidia.short_reports import (
    is_confidential,
    is_gpustat,
    is_holders,
    is_list,
    is_nvtop,
    read_confidential,
    read_gpustat,
    read_holders,
    read_list,
    read_nvtop,
)
from tools.nvidia.smi_csv import is_csv, read_csv
from tools.nvidia.smi_dmon import is_dmon, read_dmon
from tools.nvidia.smi_q import is_query, read_query
from tools.nvidia.smi_table import is_table, read_table
from tools.nvidia.smi_xml import is_xml, read_xml
from tools.probe import told

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_FORMS: tuple[tuple[Callable[[str], bool], Callable[[str], Gpus]], ...] = (
    (is_query, read_query),
    (is_table, read_table),
    (is_csv, read_csv),
    (is_dmon, read_dmon),
    (is_list, read_list),
    (is_nvtop, read_nvtop),
    (is_gpustat, read_gpustat),
    (is_confidential, read_confidential),
    (is_holders, read_holders),
    (is_dcgm, read_dcgm),
)
LONGEST_LINE = 20_000


def plain(text: str) -> str:
    """Return the text without colours, carriage returns, and lines that no program of ours prints."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")
    if len(text) < LONGEST_LINE:
        return text
    return "\n".join(line for line in text.split("\n") if len(line) < LONGEST_LINE)


def tells_of_gpus(text: str) -> bool:
    """Say whether a text tells of GPUs in one of the known forms, or is a refusal to do so."""
    if is_nvml(text) or is_xml(text):
        return True
    lines = plain(text)
    return any(known(lines) for known, _ in _FORMS) or is_refusal(lines) or is_foreign(lines)


def read_gpus(text: str) -> Gpus:
    """Return what a text tells of GPUs; raise Absent, Failed or Unreadable where it tells nothing."""
    if is_nvml(text):
        return read_nvml(text)
    if is_xml(text):
        return read_xml(text)
    if text.lstrip()[:1] == "{":
        told(text)  # a script's refusal is raised here
    lines = plain(text)
    gpus = Gpus.united([read(lines) for known, read in _FORMS if known(lines)])
    if gpus == Gpus():
        refuse(lines)
        raise Unreadable("no form of nvidia-smi, NVML or nvtop that is known")
    return gpus
