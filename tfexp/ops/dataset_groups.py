"""Data sets of groups: windows of elements with the same key, one result for each key, each element only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    Elements,
    FromRecipe,
    State,
    define_dataset,
    kept,
)
from tfexp.ops.dataset_functions import Function, with_arguments

group_by_window_dataset = define_dataset(
    "GroupByWindowDataset(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
    "reduce_func_other_arguments: Treduce_func_other_arguments, window_size_func_other_arguments: "
    "Twindow_size_func_other_arguments) -> (handle: variant) {key_func: func; reduce_func: func; window_size_func: func; "
    "Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; "
    f"Twindow_size_func_other_arguments: list(type) >= 0; {COMMON}}}"
)
_BY_REDUCER = (
    "(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, init_func_other_arguments: "
    "Tinit_func_other_arguments, reduce_func_other_arguments: Treduce_func_other_arguments, finalize_func_other_arguments: "
    "Tfinalize_func_other_arguments) -> (handle: variant) {key_func: func; init_func: func; reduce_func: func; "
    "finalize_func: func; Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0; "
    "Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: list(type) >= 0; output_types: "
    "list(type) >= 1; output_shapes: list(shape) >= 1} #stateful"
)
group_by_reducer_dataset = define_dataset(f"GroupByReducerDataset{_BY_REDUCER}")
experimental_group_by_reducer_dataset = define_dataset(f"ExperimentalGroupByReducerDataset{_BY_REDUCER}")
unique_dataset = define_dataset(f"UniqueDataset(input_dataset: variant) -> (handle: variant) {{{COMMON}}}")


def _keep(element: Element) -> list[Any]:
    return [kept(value) for value in element]


def _key(results: Sequence[Any], what: str) -> int:
    """The scalar that a function of keys or sizes returned."""
    if np.shape(results[0]) != ():
        raise InvalidArgumentError(None, None, f"`{what}` must return a scalar int64.")
    return int(results[0])


# --- windows -----------------------------------------------------------------------------------------------------------


class _GroupByWindow(Chain):
    """Elements wait in a group for each key; a group that is full, or is there at the end, becomes a data set of its own."""

    def __init__(self, source: DatasetIterator, key: Function, reduce: Function, size: Function):
        super().__init__(source)
        self.blocks = False
        self._key, self._reduce, self._size = key, reduce, size
        self._groups: dict[int, list[list[Any]]] = {}
        self._sizes: dict[int, int] = {}
        self._current: tuple[int, list[list[Any]]] | None = None
        self._inner: DatasetIterator | None = None
        self._ended = False

    def next(self) -> Element | None:
        while True:
            if self._inner is not None:
                found = self._inner.next()
                if found is not None:
                    return found
                self._leave()
            elif self._ended:
                if not self._groups:
                    return None
                self._enter(min(self._groups))
            else:
                self._take()

    def _take(self) -> None:
        element = self.source.next()
        if element is None:
            self._ended = True
            return
        key = _key(self._key(element), "key_func")
        if key not in self._groups:
            size = _key(self._size([np.int64(key)]), "window_size_func")
            if size <= 0:
                raise InvalidArgumentError(None, None, f"Window size must be greater than zero, but got {size}.")
            self._groups[key], self._sizes[key] = [], size
        self._groups[key].append(_keep(element))
        if len(self._groups[key]) == self._sizes[key]:
            self._enter(key)

    def _enter(self, key: int) -> None:
        elements = self._groups.pop(key)
        self._sizes.pop(key)
        self._begin(key, elements)

    def _begin(self, key: int, elements: list[list[Any]]) -> DatasetIterator:
        self._current = key, elements
        self._inner = self._reduce([np.int64(key), Elements(elements)])[0].iterator()
        return self._inner

    def _leave(self) -> None:
        if self._inner is not None:
            self._inner.close()
        self._inner = self._current = None

    def save(self) -> State:
        groups = [[key, self._sizes[key], elements] for key, elements in self._groups.items()]
        inner = None
        if self._inner is not None and self._current is not None:
            inner = {"key": self._current[0], "elements": self._current[1], "at": self._inner.save()}
        return {"source": self.source.save(), "groups": groups, "inner": inner, "ended": self._ended}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._groups = {key: elements for key, _, elements in state["groups"]}
        self._sizes = {key: size for key, size, _ in state["groups"]}
        self._ended = state["ended"]
        if state["inner"] is not None:
            self._begin(state["inner"]["key"], state["inner"]["elements"]).restore(state["inner"]["at"])

    def close(self) -> None:
        super().close()
        self._leave()


@group_by_window_dataset.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    key_arguments: Sequence[Any],
    reduce_arguments: Sequence[Any],
    size_arguments: Sequence[Any],
    *,
    key_func: Any,
    reduce_func: Any,
    window_size_func: Any,
) -> Dataset:
    return FromRecipe(
        lambda source, key, reduce, size: _GroupByWindow(source.iterator(), key, reduce, size),
        dataset,
        with_arguments(ctx, key_func, key_arguments),
        with_arguments(ctx, reduce_func, reduce_arguments),
        with_arguments(ctx, window_size_func, size_arguments),
    )


# --- one result for each key -------------------------------------------------------------------------------------------


class _GroupByReducer(Chain):
    def __init__(self, source: DatasetIterator, key: Function, init: Function, reduce: Function, finalize: Function):
        super().__init__(source)
        self.blocks = False
        self._key, self._init, self._reduce, self._finalize = key, init, reduce, finalize
        self._states: dict[int, list[Any]] = {}
        self._ended = False

    def next(self) -> Element | None:
        while not self._ended:
            element = self.source.next()
            if element is None:
                self._ended = True
                break
            key = _key(self._key(element), "key_func")
            state = self._states[key] if key in self._states else _keep(self._init([np.int64(key)]))
            self._states[key] = _keep(self._reduce([*state, *element]))
        return self._finalize(self._states.pop(min(self._states))) if self._states else None

    def save(self) -> State:
        states = [[key, list(state)] for key, state in self._states.items()]
        return {"source": self.source.save(), "states": states, "ended": self._ended}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._states = {key: list(values) for key, values in state["states"]}
        self._ended = state["ended"]


@group_by_reducer_dataset.kernel("CPU")
@experimental_group_by_reducer_dataset.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    key_arguments: Sequence[Any],
    init_arguments: Sequence[Any],
    reduce_arguments: Sequence[Any],
    finalize_arguments: Sequence[Any],
    *,
    key_func: Any,
    init_func: Any,
    reduce_func: Any,
    finalize_func: Any,
) -> Dataset:
    return FromRecipe(
        lambda source, *functions: _GroupByReducer(source.iterator(), *functions),
        dataset,
        with_arguments(ctx, key_func, key_arguments),
        with_arguments(ctx, init_func, init_arguments),
        with_arguments(ctx, reduce_func, reduce_arguments),
        with_arguments(ctx, finalize_func, finalize_arguments),
    )


# --- each element only once --------------------------------------------------------------------------------------------


class _Unique(Chain):
    def __init__(self, source: DatasetIterator):
        super().__init__(source)
        self.blocks = False
        self._seen: set[Any] = set()

    def next(self) -> Element | None:
        while (element := self.source.next()) is not None:
            array = np.asarray(element[0])
            item = (array.shape, tuple(array.ravel().tolist()))
            if item not in self._seen:
                self._seen.add(item)
                return element
        return None

    def save(self) -> State:
        return {"source": self.source.save(), "seen": [[list(shape), list(items)] for shape, items in self._seen]}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._seen = {(tuple(shape), tuple(items)) for shape, items in state["seen"]}


@unique_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset) -> Dataset:
    return FromRecipe(lambda source: _Unique(source.iterator()), dataset)
