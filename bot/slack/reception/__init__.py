"""reception takes what people do in Slack, and hands it on."""
