"""Penalties on weights and outputs, added to the loss. Source: `tf.keras.regularizers`, TF 1.15."""

from __future__ import annotations

from typing import Any, Self

from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.keras.backend.config import cast_to_floatx, floatx
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object
from tfexp.ops.elementwise_unary import abs, square
from tfexp.ops.reduce import reduce_sum


class Regularizer:
    """A function of a tensor that gives a scalar; 0 here."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    def get_config(self) -> dict[str, Any]:
        """The arguments of an equal one."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of the absolute values plus `l2` times the sum of the squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        # Rounded as weights are: a configuration says what is computed with.
        self.l1, self.l2 = float(cast_to_floatx(l1)), float(cast_to_floatx(l2))

    def __call__(self, x: Any) -> Any:
        if not self.l1 and not self.l2:
            return constant(0.0, dtype=floatx())
        x = convert_to_tensor(x)
        penalty: Any = 0.0
        if self.l1:
            penalty += self.l1 * reduce_sum(abs(x))
        if self.l2:
            penalty += self.l2 * reduce_sum(square(x))
        return penalty

    def get_config(self) -> dict[str, Any]:
        return {"l1": self.l1, "l2": self.l2}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741 (Keras's name)
    """`l` times the sum of the absolute values."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741 (Keras's name)
    """`l` times the sum of the squares."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """Both."""
    return L1L2(l1=l1, l2=l2)


_FUNCTIONS = (l1, l2, l1_l2)


def serialize(regularizer: Any) -> Any:
    """The class's name and configuration."""
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """What a name or configuration describes. ValueError for unknown ones."""
    return deserialize_keras_object(config, globals(), custom_objects, "regularizer")


def get(identifier: Any) -> Any:
    """A regularizer of a name or configuration; a function as it is; None of None. ValueError for anything else."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        found = deserialize(identifier)
        return found() if found in _FUNCTIONS else found
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")
