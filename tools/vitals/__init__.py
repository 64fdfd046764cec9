"""The figures of a host by which its days are compared: what is normal, and what left it."""
