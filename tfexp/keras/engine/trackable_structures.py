"""`tf.contrib.checkpoint.List` and `Mapping`: structures of layers and variables, which know what is in them. TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tfexp.core import nest
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.trackable import variables_made
from tfexp.ops.variable_base import Variable


class _Structure:
    """What lists and mappings say of their parts, those of structures within them included."""

    def _leaves(self) -> list[Any]:
        return nest.flatten(self)

    def _variables(self, trainable: bool) -> list[Any]:
        found: list[Any] = [part for part in self._leaves() if isinstance(part, Variable)]
        return [variable for variable in found if variable.trainable == trainable]

    @property
    def layers(self) -> list[Layer]:
        return [part for part in self._leaves() if isinstance(part, Layer)]

    def _weights_of_layers(self, kind: str) -> Iterator[Any]:
        for layer in self.layers:
            yield from getattr(layer, kind)

    @property
    def trainable_weights(self) -> list[Any]:
        return [*self._weights_of_layers("trainable_weights"), *self._variables(True)]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [*self._weights_of_layers("non_trainable_weights"), *self._variables(False)]

    @property
    def weights(self) -> list[Any]:
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def losses(self) -> list[Any]:
        return [loss for layer in self.layers for loss in layer.losses]

    @property
    def updates(self) -> list[Any]:
        return [update for layer in self.layers for update in layer.updates]


class List(_Structure, list):  # type: ignore[type-arg]
    """A list whose elements checkpoints find by their numbers. `tf.contrib.checkpoint.List`."""

    def append(self, value: Any) -> None:
        super().append(value)
        variables_made(self)

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(values)
        variables_made(self)

    def copy(self) -> List:
        return type(self)(self)

    def __add__(self, other: Any) -> Any:
        return type(self)([*self, *other])

    __hash__ = object.__hash__  # type: ignore[assignment]


class Mapping(_Structure, dict):  # type: ignore[type-arg]
    """A mapping whose values checkpoints find by their keys, which are strings. Nothing in it is replaced.

    TypeError for other keys, ValueError for another value under a key. `tf.contrib.checkpoint.Mapping`.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        self.update(*args, **kwargs)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        if key in self and self[key] is not value:
            raise ValueError(f"Mappings are an append-only data structure: there is a value already for {key!r}.")
        super().__setitem__(key, value)
        variables_made(self)

    __hash__ = object.__hash__  # type: ignore[assignment]
