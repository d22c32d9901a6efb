"""Graphs and files recorded from TensorFlow, with the programs and scripts that record them."""
