"""`tensorflow.python.client.session._FetchHandler`: what a run has to fetch, and the fetched values in the fetches' shape.

Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.runtime.fetches import FetchMapper


class _FetchHandler:
    """`fetches` in `graph`, where the tensors of `feeds` have values. TypeError and ValueError as a session's run."""

    def __init__(self, graph: Graph, fetches: Any, feeds: Mapping[Any, Any], feed_handles: Any = None):
        mapper = FetchMapper(graph, fetches)
        self._elements, self._build = mapper.elements, mapper.build
        self._fed = {graph.as_graph_element(tensor): value for tensor, value in feeds.items()}

    def fetches(self) -> list[Tensor]:
        """The tensors that are to be computed, each once."""
        return [element for element in self._elements if isinstance(element, Tensor) and element not in self._fed]

    def targets(self) -> list[Operation]:
        """The operations that are to be run, each once."""
        return [element for element in self._elements if isinstance(element, Operation)]

    def build_results(self, session: Any, tensor_values: Sequence[Any]) -> Any:
        """The fetches with values in their places, those of `fetches()` from `tensor_values`; None for operations."""
        values: dict[Any, Any] = dict(zip(self.fetches(), tensor_values, strict=True))
        values |= {element: np.asarray(value) for element, value in self._fed.items()}
        return self._build([values.get(element) for element in self._elements])
