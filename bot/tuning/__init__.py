"""tuning tries the few changes that are predicted to help, one at a time, under one approval and a budget."""
