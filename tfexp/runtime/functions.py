"""Functions of a graph's library as kernels call them: data sets do, once for each element.

Importing this module makes local sessions complete: it registers their backend and binds functions for kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.function import Function
from tfexp.runtime.backend import register_backend
from tfexp.runtime.local import LocalBackend, LocalStep, open_session, reset
from tfexp.runtime.resources import AnyResources, SessionResources
from tfexp.runtime.step import install_function_binder


class BoundFunction:
    """A function with the session's resources: call it with its arguments' values, get its outputs' values.

    Planned and run like a step of its own. What its nodes remember from call to call (random numbers) is this object's.
    `function` is the graph function itself. May be called by several threads at once.
    """

    def __init__(self, function: Function, resources: AnyResources, device: str, config: Any = None):
        self.function = function
        self._resources, self._device = resources, device
        own = SessionResources(resources)
        self.node_state = own.node_state
        backend = LocalBackend(function.body, config, own, (device,))
        self._strings = [i for i, tensor in enumerate(function.outputs) if tensor.dtype is dtypes.string]
        self._step = LocalStep(backend, function.outputs, function.effects, function.inputs)

    def rebound(self, function: Function) -> BoundFunction:
        """Another function with the same resources."""
        return BoundFunction(function, self._resources, self._device)

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]:
        shapes = tuple([np.shape(value) for value in values])
        runner = self._step.ready.get(shapes)
        results = self._step.run(values, shapes, None, None) if runner is None else runner(values)
        return self._with_arrays(results) if self._strings else results

    def each(self, rows: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], Exception | None]:
        """The outputs' values for each row of values, all of the first row's shapes: up to one that fails, and its error."""
        if not rows:
            return [], None
        found, failure = self._step.run_each(rows, tuple([np.shape(value) for value in rows[0]]))
        return [self._with_arrays(results) for results in found] if self._strings else found, failure

    def _with_arrays(self, results: Sequence[Any]) -> Sequence[Any]:
        """For kernels a string is an array, for who fetches one it is bytes."""
        converted = list(results)
        for i in self._strings:
            if isinstance(converted[i], bytes):
                converted[i] = np.array(converted[i], object)
        return converted


install_function_binder(BoundFunction)
register_backend("", open_session, reset)
