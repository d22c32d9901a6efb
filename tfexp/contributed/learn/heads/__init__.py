"""Heads of `tf.contrib.learn`: from a model's logits to what its model function gives. Source: TF 1.15."""
