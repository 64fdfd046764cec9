"""A package that is called like the engine, so that a process of the lab looks like one."""

__version__ = "0.5.9"
