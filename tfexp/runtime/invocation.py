"""What one call of `Session.run` needs besides the fed values, prepared once for its fetches and feed keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy import ndarray

from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.runtime.backend import Backend, PreparedStep, Shapes
from tfexp.runtime.feeds import FeedSpec
from tfexp.runtime.fetches import FetchMapper


class Invocation:
    """One combination of fetches and feed keys: everything that does not depend on the fed values, done once."""

    __slots__ = ("_build", "_count", "_feeds", "_from_feeds", "_is_flat", "_positions", "_prepared")

    def __init__(
        self,
        graph: Graph,
        backend: Backend,
        fetches: Any,
        feed_tensors: Sequence[Tensor],
    ):
        mapper = FetchMapper(graph, fetches)
        elements = mapper.elements
        self._build = mapper.build
        self._count = len(elements)
        self._feeds = tuple(FeedSpec(graph, tensor) for tensor in feed_tensors)
        fed = {tensor: i for i, tensor in enumerate(feed_tensors)}
        # A fetched feed is handed back as it was fed; the backend never sees it.
        self._from_feeds = [(i, fed[e]) for i, e in enumerate(elements) if isinstance(e, Tensor) and e in fed]
        tensors = [(i, e) for i, e in enumerate(elements) if isinstance(e, Tensor) and e not in fed]
        self._positions = [i for i, _ in tensors]
        self._is_flat = len(tensors) == len(elements)
        self._prepared: PreparedStep = backend.prepare(
            [tensor for _, tensor in tensors], [e for e in elements if isinstance(e, Operation)], list(feed_tensors)
        )

    def run(self, fed_values: Iterable[Any], options: Any = None, run_metadata: Any = None) -> Any:
        """Run with these values for the feeds, in order."""
        values = []
        shapes = []
        if self._from_feeds:
            fed_values = tuple(fed_values)
        for spec, value in zip(self._feeds, fed_values):
            if type(value) is not ndarray or value.dtype is not spec.numpy_dtype or spec.is_string:
                value = spec.convert(value)
            values.append(value)
            shapes.append(value.shape)
        ready = self._prepared.ready.get(tuple(shapes))
        if ready is None or options is not None or run_metadata is not None:
            fetched = self._run_first(values, tuple(shapes), options, run_metadata)
        else:
            fetched = ready(values)
        if self._is_flat:
            return self._build(fetched)
        results: list[Any] = [None] * self._count
        for position, value in zip(self._positions, fetched):
            results[position] = value
        for position, feed in self._from_feeds:
            results[position] = self._feeds[feed].handed_back(fed_values[feed], values[feed])  # type: ignore[index]
        return self._build(results)

    def explain(self, fed_values: Iterable[Any]) -> Any:
        shapes = tuple(spec.convert(value).shape for spec, value in zip(self._feeds, fed_values, strict=True))
        for spec, shape in zip(self._feeds, shapes, strict=True):
            spec.check_shape(shape)
        return self._prepared.explain(shapes)

    def _run_first(self, values: list[Any], shapes: Shapes, options: Any, metadata: Any) -> Sequence[Any]:
        for spec, shape in zip(self._feeds, shapes, strict=True):
            spec.check_shape(shape)
        return self._prepared.run(values, shapes, options, metadata)
