"""whatif says what a deployment would give, from a config.json or from what was seen of a host."""
