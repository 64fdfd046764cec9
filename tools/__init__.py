"""tools knows machines, and nobody."""
