"""Every morning, every host: looked at lightly, held against its own days, told in ten seconds."""
