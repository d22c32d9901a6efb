"""Heads: what a model's logits are for. `head` is what they share, the others a kind each."""
