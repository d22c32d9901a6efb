"""`ConcreteFunction`: one trace of a Python function, to be called with tensors of its types."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto import function_pb2

from tfexp.core import nest
from tfexp.core.shallow_nest import flatten_with_joined_string_paths
from tfexp.graph import tape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.calls import add_function, call_and_record, forget_function


class _Lease:
    """Held by all who may call a function; it holds what a call needs besides."""

    def __init__(self, needs: Any):
        self.needs = needs


class ConcreteFunction:
    """A traced function: call it with the tensors that the trace took as arguments, by position or by name.

    `inputs` and `outputs` are tensors of `graph`, `captured_inputs` those of the graph around it that every call hands over
    last, `structured_outputs` what the Python function returned. Source: `get_concrete_function` of `tf.function`.
    """

    def __init__(self, trace: Any, needs: Any = None):
        """`trace`: a `functions.trace.Trace`, or what has its attributes. `needs`: to live as long as it can be called."""
        self._trace = trace
        self._function = trace.function
        self._lease = _Lease(needs)
        # A graph keeps its functions; the world of eager execution goes on, and forgets those that nobody can call.
        if trace.graph.outermost.is_eager:
            weakref.finalize(self._lease, forget_function, trace.graph.outer._functions, self._function)

    # --- what it is ------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def graph(self) -> TracedGraph:
        return self._trace.graph

    @property
    def function_def(self) -> function_pb2.FunctionDef:
        return self._function.definition

    @property
    def inputs(self) -> list[Tensor]:
        return list(self._function.inputs)

    @property
    def arguments(self) -> list[Tensor]:
        """Those of `inputs` that a call gives."""
        return list(self._trace.arguments)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self._function.outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        return list(self._captured)

    @functools.cached_property
    def _captured(self) -> list[Tensor]:
        return self.graph.outer_captures()

    @property
    def structured_input_signature(self) -> Any:
        """(positional arguments, keyword arguments) that it was traced with, a `tf.TensorSpec` for each tensor."""
        return self._trace.structured_input_signature

    @property
    def argument_names(self) -> list[str]:
        """What a call may name those by."""
        return list(self._trace.argument_names)

    @property
    def structured_outputs(self) -> Any:
        return self._trace.results.pack(self.outputs)

    @property
    def output_specs(self) -> Any:
        """The structure of what it returns, a `tf.TensorSpec` for each tensor, named after its place."""
        results = self._trace.results
        places = flatten_with_joined_string_paths(results.structure, expand_composites=True)
        names = (place for place, leaf in places if leaf is not None)
        return results.map(lambda tensor: TensorSpec(tensor.shape, tensor.dtype, next(names)))

    @property
    def output_shapes(self) -> Any:
        return self._trace.results.map(lambda tensor: tensor.shape)

    @property
    def output_dtypes(self) -> Any:
        return self._trace.results.map(lambda tensor: tensor.dtype)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it uses, as far as the program still holds them."""
        return self.graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return self.graph.trainable_variables

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name} of {self._trace.name} at {id(self):#x}>"

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Put it, and the functions that it calls, into the library of a graph (the default one if None)."""
        add_function(get_default_graph() if g is None else g, self._function)

    # --- calling it ------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """TypeError for arguments that are missing, unknown, or of another type; ValueError for other shapes and values."""
        return self.call_with(self._matched(args, kwargs))

    def call_with(self, tensors: list[Tensor]) -> Any:
        """Its results for these tensors in the structure that the Python function returned."""
        for variable in self.trainable_variables if tape.recording.tapes else ():
            tape.variable_accessed(variable)
        with control_dependencies(self.graph.awaited):
            call = call_and_record(self._function, [*tensors, *self._captured])
        call.lease = self._lease  # a tape that has recorded the call will differentiate it
        results = self._trace.results
        if results.is_nothing:
            return None if executing_eagerly() else call
        return results.pack(call.outputs[: len(results.tensors)])

    def _matched(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Tensor]:
        names, wanted = self._trace.argument_names, self._trace.arguments
        given = [leaf for leaf in nest.flatten(args, expand_composites=True) if not self._is_bound(leaf)]
        if len(given) > len(wanted):
            raise TypeError(f"{self._trace.name}() takes {len(wanted)} tensors ({', '.join(names)}), got {len(given)}")
        rest = dict(kwargs)
        by_name = names[len(given) :]
        missing = [name for name in by_name if name not in rest]
        if missing:
            raise TypeError(
                f"{self._trace.name}(): Expected argument names {names} but got values for "
                f"{[*names[: len(given)], *rest]}. Missing: {missing}."
            )
        given += [rest.pop(name) for name in by_name]
        if rest:
            raise TypeError(f"{self._trace.name}() got unexpected arguments {sorted(rest)} (it takes {', '.join(names)})")
        return [self._fitting(*each) for each in zip(given, wanted, names, strict=True)]

    def _is_bound(self, leaf: Any) -> bool:
        """Whether it is what the trace was made for, and no tensor."""
        return any(leaf is known for known in self._trace.constants)

    def _fitting(self, value: Any, wanted: Tensor, name: str) -> Tensor:
        try:
            tensor = convert_to_tensor(value, dtype=None if isinstance(value, Tensor) else wanted.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of {self._trace.name}, the input "
                f"{name!r} ({value!r}) does not convert to one: {error}"
            ) from None
        if tensor.dtype.base_dtype != wanted.dtype:
            raise TypeError(
                f"{self._trace.name}(): the argument {name!r} is a tensor of {wanted.dtype.name} and shape {wanted.shape}, "
                f"got one of {tensor.dtype.base_dtype.name} and shape {tensor.shape}"
            )
        if not tensor.shape.is_compatible_with(wanted.shape):
            raise ValueError(
                f"{self._trace.name}(): the argument {name!r} (value {tensor}) is not compatible with the shape this "
                f"function was traced with. Expected shape {wanted.shape}, but got shape {tensor.shape}."
            )
        return tensor
