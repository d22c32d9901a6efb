"""Functions compiled by Numba when they first run, once for all of the same text and types: loops and whole kernels.

Arithmetic is IEEE's (no `fastmath`), and the interpreter's lock is not held. What was compiled is kept on disk by Numba
itself, beside the text of the loop (`runtime.user_cache`), for as long as Numba and the processor are the same; where that
folder cannot be written to, each process compiles again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from tfexp.core import log
from tfexp.plan.loop_source import LoopSource
from tfexp.runtime.user_cache import cache_folder, prune

_WORTH_TELLING = 1.0  # seconds
_MAX_KEPT = 4096  # compiled loops of a process
_lock = threading.Lock()


Parameters = tuple[tuple[str, int, bool], ...]
"""Of each argument the dtype, the rank (0: a number), and whether it is written to."""


class Compiled:
    """`f(*arguments)`. By several threads at once."""

    def __init__(self, name: str, text: str, function: str, parameters: Parameters):
        """`name`: of the node for whose sake it is compiled; `text`: what defines `function`, with NumPy as `np` alone."""
        self._name = name
        self._what = text, function, parameters
        self._function: Callable[..., Any] | None = None
        self._copies = False

    def __call__(self, *arguments: Any) -> Any:
        function = self._function or self._compile()
        if not self._copies:
            try:
                return function(*arguments)
            except TypeError:
                # Numba takes no arrays here but those whose elements lie in order.
                self._copies = True
        return function(*map(_in_order, arguments))

    def _compile(self) -> Callable[..., Any]:
        began = time.perf_counter()
        with _lock:
            self._function = _compiled(*self._what)
        took = time.perf_counter() - began
        if took > _WORTH_TELLING:
            log.info("%s: its loop compiled by Numba in %.2g s, and kept in %s", self._name, took, cache_folder("numba"))
        return self._function


def compiled_loop(name: str, source: LoopSource) -> Compiled:
    """A loop of elements (`plan.loop_source`); returns whether the arrays have the sizes planned."""
    return Compiled(name, source.text, "loop", (*source.parameters, *[("intp", 0, False)] * len(source.extents)))


def compiled_function(name: str, function: Callable[..., Any], parameters: Parameters) -> Compiled:
    """A function that calls nothing but Python's own and NumPy."""
    return Compiled(name, inspect.getsource(function), function.__name__, parameters)


def _in_order(argument: Any) -> Any:
    return np.require(argument, requirements=["C", "A"]) if isinstance(argument, np.ndarray) else argument


@functools.lru_cache(_MAX_KEPT)
def _compiled(text: str, function: str, parameters: Parameters) -> Callable[..., Any]:
    signature = tuple(_type(*parameter) for parameter in parameters)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        found: Callable[..., Any] = getattr(_from_disk(text), function)
        return numba.njit(signature, cache=True, **options)(found)
    except OSError as error:
        log.info("Compiled loops are not kept: %s", error)
        names: dict[str, Any] = {"np": np}
        exec(text, names)
        return numba.njit(signature, **options)(names[function])


def _type(dtype: str, rank: int, written: bool) -> Any:
    scalar = numba.from_dtype(np.dtype(dtype))
    return numba.types.Array(scalar, rank, "C", readonly=not written, aligned=written) if rank else scalar


def _from_disk(text: str) -> Any:
    """A module of its own in the cache's folder with the text, so that Numba finds what it compiled of it before."""
    path = cache_folder("numba") / f"loop_{hashlib.sha256(text.encode()).hexdigest()[:24]}.py"
    text = f"from __future__ import annotations\n\nimport numpy as np\n\n\n{text}"
    # A file that is there stays as it is: Numba goes by when it was changed.
    if not path.exists() or path.read_text() != text:
        prune(path.parent)
        _write_whole(path, text)
    spec = importlib.util.spec_from_file_location(f"tfexp_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where Numba looks for what it reads back
    spec.loader.exec_module(module)
    return module


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
