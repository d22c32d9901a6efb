"""`tf.contrib.distributions.bijectors`: invertible functions with the determinants of their Jacobians.

One room for what they share (`bijector`), and one for each kind: of numbers, affine, of others, of shapes, flows.
"""
