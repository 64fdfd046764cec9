"""vllm is what is known of vLLM: its log and its arguments, as far as rules need them."""
