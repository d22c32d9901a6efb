"""Functions as text: what `Lambda` keeps of one that has no name by which it could be found again.

The text is Python's own code (`marshal`), so that it serves the version of Python that wrote it, and running what one has
read is running a program: read only what you trust. Source: the configs of `tf.keras.layers.Lambda`, TF 1.15.
"""

from __future__ import annotations

import base64
import binascii
import marshal
import types
from collections.abc import Callable
from typing import Any


def dump(function: Callable[..., Any]) -> tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """(code, defaults, the values of the variables around it) of a Python function."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")  # type: ignore[attr-defined]
    cells = function.__closure__  # type: ignore[attr-defined]
    around = tuple(cell.cell_contents for cell in cells) if cells else None
    return code, function.__defaults__, around  # type: ignore[attr-defined]


def load(dumped: Any, globals_: dict[str, Any]) -> Callable[..., Any]:
    """The function of what `dump` gave (as a tuple, or as a list after JSON), with these global names."""
    code, defaults, around = dumped
    if isinstance(defaults, list):
        defaults = tuple(tuple(value) if isinstance(value, list) else value for value in defaults)
    cells = None if around is None else tuple(types.CellType(value) for value in around)
    try:
        written = base64.b64decode(code.encode("ascii"), validate=False)
        found = marshal.loads(written)
    except (binascii.Error, ValueError, EOFError, TypeError) as error:
        raise ValueError(
            "The function of a Lambda layer cannot be read: its code was written by another version of Python. Make the "
            f"layer anew, and take the weights over. ({type(error).__name__}: {error})"
        ) from error
    return types.FunctionType(found, globals_, name=found.co_name, argdefs=defaults, closure=cells)
