"""Links of the GPUs on the PCI bus, hop by hop to the root port."""

from __future__ import annotations

import re

from tools.errors import Unreadable
from tools.host import Command, script
from tools.linux.answers import read_answer
from tools.linux.lspci import read_lspci
from tools.linux.pci import PciLinks
from tools.linux.pci_sysfs import read_files, read_script
from tools.linux.pci_tree import is_tree, read_tree
from tools.linux.wrappers import unwrap
from tools.probe import Probe

_WORDS = ("Lnk", "ACSCtl", "DevSta", "NVIDIA", "10de:", "PCI bridge", "/sys/")  # a cheap first look
_LINES = re.compile(
    r"^\s{0,16}(?:LnkCap|LnkSta|LnkCtl2?|ACSCtl|DevSta):[\t ]"
    r"|^(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7] "
    r"(?:PCI bridge: |0604: |[^:\n]{2,80}: [^\n]{0,200}(?:NVIDIA|10de:))"
    r"|/sys/(?:bus/pci/devices/|devices/pci[^\s/]{1,16}/(?:[^\s/]{12,16}/){0,12})"
    r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/(?:aer_dev_\w|(?:current|max)_link_)",
    re.MULTILINE,
)
_OURS = re.compile(r'\{"devices": \[\{.*"(?:lspci|others)": ', re.DOTALL)


class ReadPcieLinks(Probe[PciLinks]):
    """Read each GPU's PCIe link: generation and width, and those of every port up to the root port.

    An idle GPU rests at Gen1: what is read without load proves nothing about the speed under load.
    Like: lspci -vv; lspci -tv; cat /sys/bus/pci/devices/*/current_link_speed
    """

    def command(self) -> Command:
        """Walk sysfs, which any user may read, and ask lspci for what only root may."""
        return script("pci", limit_s=12)

    def recognises(self, text: str, /) -> bool:
        """Lines of lspci, its tree, or the files of a PCI device."""
        if text.lstrip()[:1] == "{":
            return _OURS.match(text.lstrip()) is not None
        looks = any(word in text for word in _WORDS)
        return (looks and _LINES.search(text) is not None) or is_tree(text)

    def parse(self, stdout: str, /) -> PciLinks:
        """Unite whatever forms the text holds."""
        if stdout.lstrip()[:1] == "{":
            return read_answer(stdout, read_script)
        text = unwrap(stdout)
        links = PciLinks(devices=read_lspci(text)).merged(read_files(text))
        if is_tree(text):
            devices, siblings = read_tree(text)
            links = PciLinks(devices=devices, siblings=siblings).merged(links)
        if not links.devices:
            raise Unreadable("no PCI device in it: neither lspci nor files of /sys/bus/pci/devices")
        return links
