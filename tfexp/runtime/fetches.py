"""Fetches as a user nests them, and back: one flat list of unique tensors and operations, and the structure around it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core.errors import InaccessibleTensorError
from tfexp.core.nest import Composite
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])

# value -> its tensors, and what makes the fetched value of theirs
Fetcher = Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]
# fed key, fed value -> (tensor, value) pairs
Feeder = Callable[[Any, Any], list[tuple[Any, Any]]]


def composite_feeds(key: Any, value: Any) -> list[tuple[Any, Any]] | None:
    """The (tensor, value) pairs that feeding `value` for the composite `key` means; None when it is none."""
    for kind, _, feed in _COMPOSITES:
        if isinstance(key, kind):
            return list(feed(key, value))
    return None


def is_composite(key: Any) -> bool:
    """Whether several tensors may be fed or fetched for `key`."""
    return any(isinstance(key, kind) for kind, *_ in _COMPOSITES)


def _fetch_slices(slices: IndexedSlices) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    if slices.dense_shape is None:
        return _parts_of_slices(slices), lambda values: IndexedSlicesValue(values[0], values[1], None)
    return _parts_of_slices(slices), lambda values: IndexedSlicesValue(*values)


def _feed_slices(slices: IndexedSlices, value: Any) -> list[tuple[Any, Any]]:
    return list(zip(_parts_of_slices(slices), value, strict=False))


def _parts_of_slices(slices: IndexedSlices) -> list[Any]:
    return [part for part in (slices.values, slices.indices, slices.dense_shape) if part is not None]


def _fetch_composite(composite: Composite) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    return list(composite.parts), composite.fetched


def _feed_composite(composite: Composite, value: Any) -> list[tuple[Any, Any]]:
    # The shape of a sparse tensor may be a constant, which need not be fed.
    return list(zip(composite.parts, composite.fed(value), strict=False))


_COMPOSITES: tuple[tuple[type, Fetcher, Feeder], ...] = (
    (Composite, _fetch_composite, _feed_composite),
    (IndexedSlices, _fetch_slices, _feed_slices),
)


class FetchMapper:
    """The unique graph elements that `fetches` needs (`elements`), and how their values become its shape (`build`)."""

    def __init__(self, graph: Graph, fetches: Any):
        self._graph = graph
        self.elements: list[Tensor | Operation] = []
        self._number: dict[Tensor | Operation, int] = {}
        self.build: Callable[[Sequence[Any]], Any] = self._mapper(fetches)

    def _mapper(self, fetch: Any) -> Callable[[Sequence[Any]], Any]:
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
            parts = [self._mapper(getattr(fetch, name)) for name in names]
            return lambda values: type(fetch)(*[part(values) for part in parts])
        for kind, fetcher, _ in _COMPOSITES:
            if isinstance(fetch, kind):
                tensors, combine = fetcher(fetch)
                numbers = [self._add(tensor, fetch) for tensor in tensors]
                return lambda values: combine([values[i] for i in numbers])
        number = self._add(fetch, fetch)
        return lambda values: values[number]

    def _add(self, element: Any, fetch: Any) -> int:
        try:
            found = self._graph.as_graph_element(element, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None
        if not self._graph.is_fetchable(found):
            op = found.op if isinstance(found, Tensor) else found
            raise InaccessibleTensorError(
                f"Operation {op.name!r} has been marked as not fetchable: it is part of a function, a branch or a loop, "
                "whose results can be fetched."
            )
        if found not in self._number:
            self._number[found] = len(self.elements)
            self.elements.append(found)
        return self._number[found]

    def _sequence(self, fetches: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
        parts = [self._mapper(fetch) for fetch in fetches]
        kind: Any = type(fetches)
        if isinstance(fetches, list):
            return lambda values: [part(values) for part in parts]
        if kind is tuple:
            return lambda values: tuple([part(values) for part in parts])
        return lambda values: kind(*[part(values) for part in parts])  # as namedtuples are made

    def _mapping(self, fetches: Mapping[Any, Any]) -> Callable[[Sequence[Any]], Any]:
        parts = {key: self._mapper(fetch) for key, fetch in fetches.items()}
        kind: Any = type(fetches)

        def build(values: Sequence[Any]) -> Any:
            try:
                result = kind()
            except TypeError:
                result = {}  # a mapping that cannot be made empty
            for key, part in parts.items():
                result[key] = part(values)
            return result

        return build
