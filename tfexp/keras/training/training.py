"""`Training`: what a model can do once it is compiled."""

from typing import Any


class Training:
    """`compile`, `fit`, `evaluate`, `predict` and their siblings, for `tf.keras.Model`."""

    def predict(self, x: Any, batch_size: int | None = None, verbose: int = 0, **kwargs: Any) -> Any:
        raise NotImplementedError
