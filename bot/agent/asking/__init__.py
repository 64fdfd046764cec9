"""asking puts a question to a language model, within its budget; LangChain's only door is model.py."""
