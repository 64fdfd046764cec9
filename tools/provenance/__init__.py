"""Which line of the installed engine's source set a flag, and why; read, never imported or run."""
