"""A checkpoint whose root is a model, so that its keys begin with the model's own parts (`layer_with_weights-0/kernel`)."""

from __future__ import annotations

import weakref
from typing import Any

from tfexp.train.checkpoint import Checkpoint

_of_models: weakref.WeakKeyDictionary[Any, ModelCheckpoint] = weakref.WeakKeyDictionary()


class ModelCheckpoint(Checkpoint):
    """`tf.train.Checkpoint` of one model itself; it has no counter of its own."""

    def __init__(self, model: Any):
        super().__init__()
        self._model = weakref.ref(model)

    @classmethod
    def of(cls, model: Any) -> ModelCheckpoint:
        """The model's checkpoint, whose savers are kept as long as the model."""
        found = _of_models.get(model)
        if found is None:
            found = _of_models[model] = cls(model)
        return found

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        model = self._model()
        assert model is not None
        return list(model._checkpoint_children())

    def _with_counter(self) -> Any:
        """Nothing counts how often weights are saved."""
        return None
