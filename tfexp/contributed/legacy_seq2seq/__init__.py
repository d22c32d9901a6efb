"""Sequences to sequences, as lists of steps in the graph. Source: `tf.contrib.legacy_seq2seq`, TF 1.15."""
