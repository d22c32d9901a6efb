"""`TPUStrategy`, refused with what to use instead. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.distribute.strategy import Strategy


class TPUStrategy(Strategy):
    """Cloud TPUs."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "tf.distribute.experimental.TPUStrategy needs TPUs, which tfexp does not have: `MirroredStrategy` has replicas "
            "on CPU devices."
        )
