"""The config group `data`: sources of examples (`source.py` is the interface), and what a run makes of them."""
