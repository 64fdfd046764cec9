"""prompts holds the words that a model is given."""
