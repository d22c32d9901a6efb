"""The config group `input`: how the training rows get into the steps (`input.py` is the interface)."""
