"""A tiny paper whose trials take long enough to be interrupted."""
