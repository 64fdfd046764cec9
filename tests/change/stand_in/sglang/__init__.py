"""Stands in for the engine's package."""

__version__ = "0.5.23"
