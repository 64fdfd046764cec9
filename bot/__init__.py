"""bot knows people and models, and no GPU."""
