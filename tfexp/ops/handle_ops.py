"""Ops on things that outlive a step and are known by a handle: queues, readers.

TensorFlow has two forms of each: `…V2`, whose handles are resources, and an older one, whose handles are references to
strings. They share all their rules; here the handle is the thing itself either way.

What lives for a step (stacks, TensorArrays) had strings for handles, too: a `StringHandle` is these, and leads to the thing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.op import Op, Rule, define_op
from tfexp.core.shape import TensorShape
from tfexp.core.text import as_text

_numbers = itertools.count()


class Twins:
    """Both forms of an op; calling it makes a node of the newer one."""

    def __init__(self, newer: Op, older: Op):
        self.newer = newer
        self.older = older

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.newer(*args, **kwargs)

    def shape(self, rule: Rule) -> Rule:
        for op in (self.newer, self.older):
            op.shape(rule)
        return rule

    def kernel(self, waits: bool = False, handle: bool = False) -> Callable[[Rule], Rule]:
        def attach(function: Rule) -> Rule:
            for op in (self.newer, self.older):
                op.kernel("CPU", waits=waits, handle=handle)(function)
            return function

        return attach

    def not_differentiable(self) -> None:
        for op in (self.newer, self.older):
            op.not_differentiable()


def define_handle(name: str, output: str, before: str = "", after: str = "", newer_attrs: str = "") -> Twins:
    """Register both forms of an op that gives a handle, called `output`.

    Its attributes stand `before` and `after` the two that every such op has; `newer_attrs` are the newer one's alone.
    """
    newer = define_resource(name, output, before, after + newer_attrs)
    return Twins(newer, define_older_handle(name, output, before, after))


def define_resource(name: str, output: str, before: str = "", after: str = "") -> Op:
    """Register `<name>V2`, the newer form of an op that gives a handle; see `define_handle`."""
    attributes = f"{before}container: string = ''; shared_name: string = ''{after}"
    newer = define_op(f"{name}V2() -> ({output}: resource) {{{attributes}}} #stateful")

    @newer.shape
    def _() -> TensorShape:
        return TensorShape([])

    return newer.not_differentiable()


def define_older_handle(name: str, output: str, before: str = "", after: str = "") -> Op:
    """Register the form of an op whose handle is two strings: all that ops have of which there is no newer form."""
    attributes = f"{before}container: string = ''; shared_name: string = ''{after}"
    older = define_op(f"{name}() -> ({output}: ref string) {{{attributes}}} #stateful")

    @older.shape
    def _() -> TensorShape:
        return TensorShape([2])

    older.not_differentiable()
    return older


def shared_or_own(ctx: Any, kind: str, container: Any, shared_name: Any, make: Callable[[str], Any]) -> Any:
    """The container's thing of that kind and shared name; without a shared name, the node's own in its session."""
    if shared_name:
        name = as_text(shared_name)
        return ctx.resource(as_text(container), name, lambda: make(name), kind)
    state = ctx.node_state
    if kind not in state:
        state.setdefault(kind, make(f"_{next(_numbers)}_{ctx.node_name}"))
    return state[kind]


# --- handles that are strings, of what lives for a step ---------------------------------------------------------------


class StringHandle(np.ndarray):
    """Two strings, the kind of a thing and its name, that lead to the thing for as long as they are not copied by value."""

    thing: Any

    def __array_finalize__(self, source: Any) -> None:
        self.thing = getattr(source, "thing", None)


def string_handle(kind: str, thing: Any) -> StringHandle:
    """The handle of what has a `name`."""
    handle = np.array([kind.encode(), thing.name.encode()], object).view(StringHandle)
    handle.thing = thing
    return handle
