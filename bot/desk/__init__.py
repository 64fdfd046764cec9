"""desk hears what people say and decides: refuse, help, join, queue, answer."""
