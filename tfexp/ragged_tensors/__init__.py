"""Ragged tensors: rows of different lengths, nested, as one tensor of all values and the places where rows begin.

`tensor` has the class, `arrays`, `reductions`, `elementwise` what the functions of tensors mean for it, `strings` the
functions of texts that give it. Source: `tf.RaggedTensor`, `tf.ragged`, TF 1.15.
"""

from tfexp.ragged_tensors.elementwise import bind_operators

bind_operators()
