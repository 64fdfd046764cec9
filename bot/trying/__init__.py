"""trying carries a change out from a terminal: shown, approved by typing the host, measured, kept or undone."""
