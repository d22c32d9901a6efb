"""`tf.random.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.random_generator import Generator as Generator
from tfexp.ops.random_generator import create_rng_state as create_rng_state
from tfexp.ops.random_generator import get_global_generator as get_global_generator
from tfexp.ops.random_generator import set_global_generator as set_global_generator

__getattr__ = missing_from("tf.random.experimental")
