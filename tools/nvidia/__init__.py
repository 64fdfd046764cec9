"""nvidia is what is known of NVIDIA's programs over their drivers: how they print, what they mean."""
