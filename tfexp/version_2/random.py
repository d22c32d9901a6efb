"""What `tf.compat.v2.random` has of its own."""

from tfexp.api import random
from tfexp.graph.random_seed import set_random_seed as set_seed
from tfexp.version_2.arguments import with_arguments

poisson = with_arguments(random.poisson, "shape, lam, dtype=float32, seed=None, name=None")
