"""A tiny paper whose trials take a millisecond: what the machinery is tested with."""
