"""slack is Bolt's only door: what people say comes in, letters and trails go out."""
