"""hosts are the ways to get an answer: over SSH, on this machine, from a case, from files."""
