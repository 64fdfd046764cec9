"""checking holds each sentence of a model to the looks that it cites."""
