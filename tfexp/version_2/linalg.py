"""What `tf.compat.v2.linalg` has of its own."""

from tfexp.api import linalg
from tfexp.version_2.arguments import with_arguments

l2_normalize = with_arguments(linalg.l2_normalize, "x, axis=None, epsilon=1e-12, name=None")
norm = with_arguments(linalg.norm, "tensor, ord='euclidean', axis=None, keepdims=None, name=None")
