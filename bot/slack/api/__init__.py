"""api is how Slack is spoken to: paced, tried, told apart when it fails."""
