"""delivery brings letters and trails to Slack, once each."""
