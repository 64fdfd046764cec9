"""The bot's own health: whether it lives, and what it has done, for monitors to read."""
