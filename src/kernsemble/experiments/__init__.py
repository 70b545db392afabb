"""One package a paper: its trials."""
