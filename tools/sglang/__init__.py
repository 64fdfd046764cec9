"""sglang is what is known of SGLang over its versions: arguments, log grammar, endpoints, source."""
