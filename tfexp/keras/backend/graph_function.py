"""`tf.keras.backend.function`: a Python function that computes tensors from the values of others, and updates variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.nest import Composite
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import control_dependencies, executing_eagerly, graph_of
from tfexp.graph.sparse_tensor import SparseTensorValue
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.sessions import session_of
from tfexp.ops.state import assign
from tfexp.ops.variable_base import Variable
from tfexp.runtime.session import BaseSession

_RUN_ARGUMENTS = frozenset(inspect.signature(BaseSession.run).parameters) - {"self"}


class GraphFunction:
    """Calls a session with values for `inputs` and returns the values of `outputs`, in the structure that these have.

    updates: operations, or pairs (variable, new value), done once the outputs are computed. `feed_dict`: values for further
    tensors, kept for all calls (a dictionary that may be changed between calls). `fetches`: further tensors, computed at
    each call and handed to their entry of `fetch_callbacks` (tensor -> function), if there is one.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        updates: Any = None,
        name: str | None = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ):
        updates = updates or []
        if not isinstance(updates, (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self._inputs_structure = inputs
        self.inputs = _flat(inputs)
        self._outputs_structure = outputs
        self.outputs = [convert_to_tensor(x) if isinstance(x, Variable) else x for x in _flat(outputs)]
        with control_dependencies([x for x in self.outputs if isinstance(x, Tensor)]):
            self.updates_op = group(*[assign(*u) if isinstance(u, tuple) else u for u in updates])
        self.name = name
        self.feed_dict = feed_dict
        self.fetches = list(fetches or ())
        self.fetch_callbacks: dict[Any, Callable[[Any], None]] = {}
        self.run_options, self.run_metadata = options, run_metadata
        self._prepared: tuple[Any, Callable[..., Any]] | None = None
        # What does not change from call to call.
        self._graph = graph_of(self.inputs) if self.inputs else None
        self._has_composites = any(isinstance(tensor, Composite) for tensor in self.inputs)
        self._dtypes = [tensor.dtype.as_numpy_dtype for tensor in self.inputs]
        self._in_lists = isinstance(inputs, (list, tuple)) and not any(map(nest.is_nested, inputs))
        self._out_lists = type(outputs) is list and not any(map(nest.is_nested, outputs))

    def __call__(self, inputs: Any) -> Any:
        """`inputs` in the structure of the tensors: arrays, what NumPy makes arrays of, or tensors of the same graph."""
        values = self._values(inputs)
        session = session_of(self._graph)
        if self._has_composites or any(_is_symbolic(value) for value in values):
            fetched = self._run_once(session, values)
        else:
            run = self._prepared_for(session)
            fed = self.feed_dict.values() if self.feed_dict else ()
            fetched = run(*values, *fed, options=self.run_options, run_metadata=self.run_metadata)
        count = len(self.outputs)
        for tensor, value in zip(self.fetches, fetched[count + 1 :], strict=True):
            if tensor in self.fetch_callbacks:
                self.fetch_callbacks[tensor](value)
        results = fetched[:count]
        return results if self._out_lists else nest.pack_sequence_as(self._outputs_structure, results)

    def _fetched(self) -> list[Any]:
        return [*self.outputs, self.updates_op, *self.fetches]

    def _prepared_for(self, session: Any) -> Callable[..., Any]:
        """What runs a step, made anew for another session, and when other tensors are fed or fetched besides."""
        key = (session, tuple(self.feed_dict or ()), tuple(self.fetches))
        if self._prepared is None or self._prepared[0] != key:
            feeds = [*self.inputs, *key[1]]
            # TensorFlow feeds a step whatever shape the values have: targets may be of another than was foreseen.
            made = session._callable_for(self._fetched(), feeds, accept_options=True, checks_shapes=False)
            self._prepared = key, made
        return self._prepared[1]

    def _values(self, inputs: Any) -> list[Any]:
        """The values in the order of the tensors."""
        structure = self._inputs_structure
        if isinstance(structure, (list, tuple)) and not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        if self._in_lists:
            flat = list(inputs)  # each may be a list of numbers
        elif isinstance(structure, dict):
            flat = [inputs[key] for key in nest.keys_in_order(structure)]
        elif isinstance(inputs, (list, tuple)) and len(inputs) == 1:
            flat = list(inputs)
        else:
            flat = _flat(inputs) if nest.is_nested(structure) else [inputs]
        if len(flat) != len(self.inputs):
            raise ValueError(f"This function takes {len(self.inputs)} values, one for each tensor; got {len(flat)}")
        if self._has_composites:
            return flat
        return [_array(value, dtype) for value, dtype in zip(flat, self._dtypes, strict=True)]

    def _run_once(self, session: Any, values: Sequence[Any]) -> list[Any]:
        """Where values are tensors of the graph, these are computed first; sparse ones may be SciPy's."""
        symbolic = [value for value in values if _is_symbolic(value)]
        computed = iter(session.run(symbolic)) if symbolic else iter(())
        given = {
            tensor: next(computed) if _is_symbolic(value) else _sparse_value(value)
            for tensor, value in zip(self.inputs, values, strict=True)
        }
        result: list[Any] = session.run(
            self._fetched(), {**given, **(self.feed_dict or {})}, options=self.run_options, run_metadata=self.run_metadata
        )
        return result


class EagerFunction:
    """The same while ops run at once: the layers between `inputs` and `outputs` are called on the values."""

    def __init__(self, inputs: Any, outputs: Any):
        from tfexp.keras.engine.network import Network

        self._outputs_structure = outputs
        self.inputs, self.outputs = _flat(inputs), _flat(outputs)
        self._network = Network(self.inputs, self.outputs)

    def __call__(self, inputs: Any) -> Any:
        values = zip(_flat(inputs), self.inputs, strict=True)
        results = self._network([convert_to_tensor(_array(value, tensor.dtype.as_numpy_dtype)) for value, tensor in values])
        arrays = [x.numpy() if isinstance(x, EagerTensor) else x for x in nest.flatten(results)]
        return nest.pack_sequence_as(self._outputs_structure, arrays)


def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """A function of values for `inputs` that returns the values of `outputs`. Source: `tf.keras.backend.function`, TF 1.15.

    updates: operations or pairs (variable, new value). Keyword arguments are those of `Session.run`. ValueError for others,
    and for any, or updates, while ops run at once. TypeError for updates that are no list.
    """
    if executing_eagerly():
        if kwargs:
            raise ValueError(f"Session keyword arguments are not supported during eager execution. You passed: {kwargs}")
        if updates:
            raise ValueError("`updates` argument is not supported during eager execution. You passed: " + str(updates))
        return EagerFunction(inputs, outputs)
    for key in kwargs:
        if key not in _RUN_ARGUMENTS:
            raise ValueError(f'Invalid argument "{key}" passed to K.function with TensorFlow backend')
    return GraphFunction(inputs, outputs, updates, name, **kwargs)


def _flat(structure: Any) -> list[Any]:
    return list(nest.flatten(structure))


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable, Composite)) and not isinstance(value, EagerTensor)


def _array(value: Any, dtype: Any) -> Any:
    """What is to be fed: an array of the tensor's type. Tensors of the graph stay."""
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    if isinstance(value, EagerTensor):
        return value.numpy()
    return value if _is_symbolic(value) else np.asarray(value, dtype=dtype)


def _sparse_value(value: Any) -> Any:
    """A SciPy matrix as a SparseTensorValue; anything else as it is."""
    if not hasattr(value, "tocoo"):
        return value
    coordinates = value.tocoo()
    indices = np.stack([coordinates.row, coordinates.col], axis=1).astype(np.int64)
    return SparseTensorValue(indices, coordinates.data, coordinates.shape)
