"""Functions as text: what the configs of `Lambda` and of cells keep of one that has no name by which it could be found.

The text is Python's own code (`marshal`), so that it serves the version of Python that wrote it, and running what one has
read is running a program: read only what you trust. Source: the configs of `tf.keras.layers.Lambda`, TF 1.15.
"""

from __future__ import annotations

import base64
import binascii
import marshal
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from tfexp.keras.serialization import deserialize_keras_object


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


def described(value: Any) -> tuple[Any, str, str | None]:
    """(what to keep of it, lambda | function | raw, its module)."""
    if isinstance(value, types.LambdaType):  # every function of Python is
        return dump(value), "lambda", value.__module__
    if callable(value):
        return value.__name__, "function", value.__module__
    return value, "raw", None


def restored(kept: Any, kind: str, module: str | None, names: dict[str, Any], user: str) -> Any:
    """What `described` was given. names: what the function finds beside its module's names. user: for messages."""
    if module in sys.modules:
        names = {**vars(sys.modules[module]), **names}
    elif module is not None:
        warnings.warn(f"{module} is not loaded, but a {user} uses it. It may cause errors.", UserWarning, stacklevel=3)
    if kind == "function":
        return deserialize_keras_object(kept, module_objects=names, printable_module_name=f"function in {user}")
    if kind == "lambda":
        return load(kept, names)
    if kind == "raw":
        return kept
    raise TypeError(f"Unknown function type: {kind}")
