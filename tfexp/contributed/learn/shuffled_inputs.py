"""Input functions that shuffle unless they are told not to. Source: `tf.contrib.learn.io`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.estimator import inputs


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """`tf.estimator.inputs.numpy_input_fn`."""
    return inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """`tf.estimator.inputs.pandas_input_fn`."""
    return inputs.pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
