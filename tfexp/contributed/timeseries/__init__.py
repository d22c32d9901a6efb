"""Time series: models of windows or of steps, the input that they train on, and the estimators around them.

A series is a dict of `times` (integers) and `values` (numbers, [..., features]), with whatever else is known at these times.
What a model has learnt of a series up to some time is its state, a structure of tensors: training and evaluation turn
observations into states, prediction goes on from one. Source: `tf.contrib.timeseries`, TF 1.15.
"""
