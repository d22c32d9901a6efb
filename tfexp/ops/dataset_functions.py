"""The functions that data sets call: graph functions, planned and run like a step."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import OpError
from tfexp.ops.dataset import Element, kept, row
from tfexp.ops.dataset_batch import stack
from tfexp.ops.dataset_lift import OfBlocks, lifted
from tfexp.ops.random_rows import DRAWN

Function = Callable[[Sequence[Any]], Sequence[Any]]
# The results up to an element that fails, and its error.
Mapped = tuple[list[Element], Exception | None]
Several = Callable[[Sequence[Element]], Mapped]


def in_turn(function: Function, elements: Sequence[Element]) -> Mapped:
    """The results of elements of any shapes."""
    results: list[Element] = []
    for element in elements:
        try:
            results.append(function(element))
        except Exception as error:
            return results, error
    return results, None


def rows(block: Sequence[np.ndarray]) -> Iterator[Element]:
    """The elements of a block."""
    columns = [[row(array, i) for i in range(len(array))] if array.dtype == object else list(array) for array in block]
    return zip(*columns, strict=True)


class ElementFunction:
    """The function of a node as a callable of an element: what it captured follows the element's components."""

    def __init__(self, call: Any, captured: Sequence[Any]):
        self._call, self._captured = call, captured
        # A call of the bound function itself where nothing has to be added: it comes once for each element.
        self.of_element: Function = (lambda element: call([*element, *captured])) if captured else call

    def __call__(self, element: Sequence[Any]) -> Sequence[Any]:
        return self.of_element(element)

    def each(self, elements: Sequence[Element]) -> Mapped:
        """The results of elements of the same shapes."""
        given = [[*element, *self._captured] for element in elements] if self._captured else elements
        found: Mapped = self._call.each(given)
        return found

    def stacked(self, elements: Sequence[Element]) -> Mapped:
        """As `each`, of elements of any shapes; those of the same shapes are mapped at once where none of them fails."""
        assert self.of_blocks is not None
        if len(elements) > 1 and len({tuple(map(np.shape, element)) for element in elements}) == 1:
            with contextlib.suppress(OpError):  # that of one element: those before it have results
                return list(rows(self.of_blocks([stack(values) for values in zip(*elements, strict=True)]))), None
        return in_turn(self.of_element, elements)

    @functools.cached_property
    def of_blocks(self) -> OfBlocks | None:
        """The function of many elements at once, if there is one."""
        return lifted(self._call, self._captured)

    @property
    def graph_function(self) -> Any:
        """The `graph.function.Function` that is called."""
        return self._call.function

    @functools.cached_property
    def may_wait(self) -> bool:
        """Whether a call may wait for another one: it runs Python functions, or nodes with state (random numbers aside)."""
        function = self.graph_function
        stateful = any(op.type not in DRAWN for op in function.effects)
        return stateful or any(op.type == "PyFuncStateless" for op in function.body.get_operations())

    def fresh(self) -> ElementFunction:
        """The same function; random numbers begin anew."""
        function = self._call.function
        return ElementFunction(self._call.rebound(function), self._captured) if function.remembers else self


def with_arguments(ctx: Any, function: Any, arguments: Sequence[Any]) -> ElementFunction:
    """The function of a node, ready to be called."""
    return ElementFunction(ctx.function(function), [kept(value) for value in arguments])
