"""The config group `model`: `model.py` is the interface, each choice has its file."""
