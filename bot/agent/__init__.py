"""agent lets a language model choose looks and phrase, within bounds; without one nothing here is imported."""
