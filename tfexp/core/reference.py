"""What stands for a tensor or a variable in sets and as a key. Source: `tf.Tensor.experimental_ref` of TF 1.15."""

from __future__ import annotations

from typing import Any


class Reference:
    """Equal to another one of the same object, whatever `==` means to the objects; `deref()` gives the object."""

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
