"""`tf.contrib.batching`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.functions.batched import nondifferentiable_batch_function as batch_function

__all__ = ["batch_function"]

__getattr__ = missing_from("tf.contrib.batching")
