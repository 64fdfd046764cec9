"""Questions about an installed engine's source: its flags, and which line set one."""
