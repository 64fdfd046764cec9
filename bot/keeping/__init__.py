"""What the bot keeps: written into files, and removed after a time."""
