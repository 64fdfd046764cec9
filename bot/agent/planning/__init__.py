"""planning lets a model choose further looks, and keeps it within bounds."""
