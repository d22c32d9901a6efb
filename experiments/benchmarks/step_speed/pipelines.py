"""The measured data sets: what one batch of 64 of 200,000 floats costs, taken by a session that does nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[], Any]


def _batches(mapped: Callable[[Any, Any], Any]) -> Callable[[Any], Step]:
    """Shuffled, mapped, in batches of 64, prefetched."""

    def build(tf: Any) -> Step:
        numbers = np.arange(200_000, dtype=np.float32)
        data = tf.data.Dataset.from_tensor_slices(numbers).repeat().shuffle(10_000, seed=1)
        data = data.map(lambda v: mapped(tf, v)).batch(64).prefetch(2)
        iterator = tf.data.make_initializable_iterator(data)
        element, session = iterator.get_next(), tf.Session()
        session.run(iterator.initializer)
        return lambda: session.run(element)

    return build


PROGRAMS = {
    "tf.data: shuffle, map, batch 64, prefetch": (_batches(lambda tf, v: v * 2.0 + 1.0), 10.0),
    "tf.data: the same with a map of single elements": (
        _batches(lambda tf, v: tf.cond(v > 0.5, lambda: v * 2.0, lambda: v + 1.0)),
        5.0,
    ),
}
