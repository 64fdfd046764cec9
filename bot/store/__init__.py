"""store is SQLAlchemy's only door: what must outlive the process."""
