"""Whether new layers of `tf.layers` keep their variables as Keras's do: each its own, below its name, never shared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_in_style = False


def is_keras_style() -> bool:
    """Whether layers and cells that are made now manage their variables in Keras's way."""
    return _in_style


def set_keras_style() -> None:
    """From here on they do, in the whole process. Source: `tf.layers.experimental.set_keras_style`, TF 1.15."""
    global _in_style
    _in_style = True


@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """Those made in this block do. Source: `tf.layers.experimental.keras_style_scope`, TF 1.15."""
    global _in_style
    before, _in_style = _in_style, True
    try:
        yield
    finally:
        _in_style = before
