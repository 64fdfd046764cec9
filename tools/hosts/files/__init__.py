"""files are texts that somebody gives: read within bounds, and recognised by what is in them."""

from tools.hosts.files.found import Found, read_texts

__all__ = ["Found", "read_texts"]
