"""Decorators for tests of what code leaves behind: tensors, objects, cycles of references. Source: `test_util`, TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import logging
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.eager_dispatch import forget_calls

_log = logging.getLogger("tensorflow")

# How often a test runs, so that what first calls keep is there, before the calls that may leave nothing.
_WARM_UP = _MEASURED = 3


def assert_no_new_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """AssertionError where a tensor that the test made, at once or on a graph of the test's own, outlives it."""

    @functools.wraps(f)
    def run(self: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = {id(tensor) for tensor in _tensors()}
        with contextlib.nullcontext() if executing_eagerly() else Graph().as_default():
            result = f(self, **kwargs)
        if executing_eagerly():
            # Constants that are kept for whoever needs them next.
            get_default_graph().scalars.clear()
            forget_calls()
        gc.collect()
        if left := [tensor for tensor in _tensors() if id(tensor) not in before]:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {', '.join(map(str, left))}")
        return result

    return run


def _tensors() -> Iterator[Tensor]:
    """The tensors that there are; asking a class, as objects may claim to be of another one."""
    return (thing for thing in gc.get_objects() if issubclass(type(thing), Tensor))


def assert_no_garbage_created(f: Callable[..., Any]) -> Callable[..., Any]:
    """AssertionError where the test leaves objects that refer to each other, which only the collector frees."""

    @functools.wraps(f)
    def run(self: Any, **kwargs: Any) -> Any:
        with _kept_garbage() as garbage:
            result = f(self, **kwargs)
        if garbage:
            kinds = Counter(type(thing).__name__ for thing in garbage)
            _log.error("The test left cycles of references, of %s", dict(kinds))
            raise AssertionError(f"The test made work for the garbage collector: {len(garbage)} objects, {dict(kinds)}")
        return result

    return run


@contextlib.contextmanager
def _kept_garbage() -> Iterator[list[Any]]:
    """After the block, the list has what it left for the collector."""
    gc.collect()
    before, flags = len(gc.garbage), gc.get_debug()
    was_enabled = gc.isenabled()
    gc.disable()
    found: list[Any] = []
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage[before:]
    finally:
        gc.set_debug(flags)
        del gc.garbage[before:]
        if was_enabled:
            gc.enable()


def assert_no_new_pyobjects_executing_eagerly(f: Callable[..., Any]) -> Callable[..., Any]:
    """The test runs eagerly several times: AssertionError where most of the later runs leave objects."""

    @functools.wraps(f)
    def run(self: Any, **kwargs: Any) -> None:
        with eager_mode():
            for _ in range(_WARM_UP):
                f(self, **kwargs)
            counts = []
            gc.collect()
            counts.append(len(gc.get_objects()))
            for _ in range(_MEASURED):
                f(self, **kwargs)
                gc.collect()
                counts.append(len(gc.get_objects()))
        left = [after - before for before, after in itertools.pairwise(counts)]
        if statistics.median(left) > 0:  # in one of the runs other threads may have made objects, or freed them
            raise AssertionError(f"The runs of the test left {left} new Python objects")

    return run
