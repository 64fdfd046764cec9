"""experiment tries an approved change on a host: it measures before and after, and keeps it or takes it back."""
