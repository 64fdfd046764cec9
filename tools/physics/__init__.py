"""physics is a serving step in milliseconds: memory, kernels, links, host."""
