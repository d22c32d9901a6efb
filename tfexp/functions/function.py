"""`tf.function`: a Python function that is traced where it is called with something new. Source: TF 1.15."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Hashable
from types import MethodType
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.autograph.conversion import convert
from tfexp.autograph.feature import features as as_features
from tfexp.core.shape import TensorShape
from tfexp.functions.arguments import Bound, Parameters, is_tensor
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.trace import Trace, Variables
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.calls import forget_function

# The collection of a graph that keeps what was traced in it, so that it lives and dies with the graph.
_TRACES = ("traces of functions",)

# The attribute that says whether XLA compiles a function or a node.
_COMPILE = "_XlaCompile"

_runs_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether calls run the Python functions themselves. Source: `tf.config.experimental_run_functions_eagerly`."""
    global _runs_eagerly
    _runs_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What `run_functions_eagerly` said last."""
    return _runs_eagerly


class PolymorphicFunction:
    """A Python function behind traces of it, one for each graph around it and kind of arguments."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        autograph: bool = True,
        features: Any = None,
        relax_shapes: bool = False,
        compiled: bool | None = None,
        instance: weakref.ref[Any] | None = None,
    ):
        """`features`: of AutoGraph. `compiled`: whether its nodes are to be compiled, None to leave that open. `instance`:
        the object whose method it is, which it does not keep alive."""
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        functools.update_wrapper(self, python_function)
        self._wrapped, self._instance = python_function, instance
        self.parameters = Parameters(self.python_function, input_signature)
        self.__signature__ = self.parameters.signature  # a method's is without its object
        self._autograph, self._features = autograph, features
        self._relax_shapes, self._compiled = relax_shapes, compiled
        self._variables = Variables()
        self._lock = threading.RLock()
        self._bound_to: weakref.WeakKeyDictionary[Any, PolymorphicFunction] = weakref.WeakKeyDictionary()

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that was wrapped; the method, if it is one."""
        return self._of_instance(self._wrapped)

    def _of_instance(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if self._instance is None else MethodType(function, self._instance())

    @property
    def input_signature(self) -> Any:
        return self.parameters.input_signature

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The traces that there are in the default graph; with an input signature, the one for it."""
        if self.input_signature is not None:
            return [self.get_concrete_function()]
        return list(dict.fromkeys(self._traces(get_default_graph()).values()))

    def __get__(self, instance: Any, owner: Any) -> Any:
        """As a method: each object has traces of its own."""
        if instance is None:
            return self
        found = self._bound_to.get(instance)
        if found is None:
            found = PolymorphicFunction(
                self._wrapped,
                self.input_signature,
                self._autograph,
                self._features,
                self._relax_shapes,
                self._compiled,
                weakref.ref(instance),
            )
            self._bound_to[instance] = found
        return Method(found, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _runs_eagerly:
            return self.python_function(*args, **kwargs)
        bound = self.parameters.bind(args, kwargs)
        return self._concrete(bound).call_with(bound.tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; a `tf.TensorSpec` stands for all tensors that fit it."""
        if self.input_signature is not None and not args and not kwargs:
            return self._concrete(self.parameters.signature_as_arguments())
        return self._concrete(self.parameters.bind(args, kwargs))

    # --- traces ----------------------------------------------------------------------------------------------------------

    def _traces(self, outer: Graph) -> dict[Hashable, ConcreteFunction]:
        kept: list[weakref.WeakKeyDictionary[Any, dict[Hashable, ConcreteFunction]]] = outer.get_collection_ref(_TRACES)
        if not kept:
            kept.append(weakref.WeakKeyDictionary())
        return kept[0].setdefault(self, {})

    def _concrete(self, bound: Bound) -> ConcreteFunction:
        outer = get_default_graph()
        around = outer.around_functions
        key = bound.key, around
        traces = self._traces(outer)
        found = traces.get(key)
        if found is None:
            with self._lock:
                found = traces[key] = traces.get(key) or self._new(traces, bound, around)
        if outer.building_function:
            outer.keep_alive(found)  # who calls a function needs it
        return found

    def _new(self, traces: dict[Hashable, ConcreteFunction], bound: Bound, around: Hashable) -> ConcreteFunction:
        if self.input_signature is not None:
            return self._trace(bound, [spec.shape for spec in self.parameters.specs_of_tensors])
        if self._relax_shapes and traces:  # TensorFlow's first trace is never one of those that later calls generalise
            return self._general(traces, bound, around)
        return self._trace(bound, None)

    def _general(self, traces: dict[Hashable, ConcreteFunction], bound: Bound, around: Hashable) -> ConcreteFunction:
        """A trace for what these shapes, and those of such calls before, have in common."""
        key = "of these ranks", bound.key_of_ranks, around
        known, shapes = traces.get(key), None
        if known is not None:
            assumed = iter([tensor.shape for tensor in known.inputs])
            shapes = [
                next(assumed).most_specific_compatible_shape(leaf.shape) if is_tensor(leaf) else None
                for leaf in bound.leaves
            ]
            if [shape for shape in shapes if shape is not None] == [tensor.shape for tensor in known.arguments]:
                return known
        traces[key] = self._trace(bound, shapes)
        return traces[key]

    def _trace(self, bound: Bound, shapes: list[TensorShape | None] | None) -> ConcreteFunction:
        before = self._variables.count
        trace = Trace(self._converted(), bound, self._variables, shapes)
        if self._variables.count > before:
            # Made for good: from now on the function is one that makes none.
            self._variables.closed = True
            forget_function(trace.graph.outer._functions, trace.function)
            trace = Trace(self._converted(), bound, self._variables, shapes)
        self._variables.closed = True
        if self._compiled is not None:
            trace.function.attrs[_COMPILE] = AttrValue(b=self._compiled)
        return ConcreteFunction(trace)

    def _converted(self) -> Callable[..., Any]:
        """The Python function, its control flow made the graph's and its nodes marked if that is asked for."""
        wrapped = convert(self._wrapped, as_features(self._features)) if self._autograph else self._wrapped
        function = self._of_instance(wrapped)
        return function if self._compiled is None else _marked(function, self._compiled)

    def __repr__(self) -> str:
        return f"<tf.function {self.parameters.name}{self.parameters.signature} at {id(self):#x}>"


def _marked(function: Callable[..., Any], compiled: bool) -> Callable[..., Any]:
    """`function`, whose nodes say whether they are to be compiled."""

    @functools.wraps(function)
    def marked(*args: Any, **kwargs: Any) -> Any:
        with get_default_graph()._attr_scope({_COMPILE: compiled}):
            return function(*args, **kwargs)

    return marked


class Method:
    """A function of an object, which it keeps for as long as somebody wants to call it."""

    def __init__(self, function: PolymorphicFunction, instance: Any):
        self._function, self._instance = function, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and other._function is self._function

    def __hash__(self) -> int:
        return hash(self._function)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """`func` as a function of graphs; without `func`, a decorator. Source: `tf.function`, TF 1.15.

    A call with tensors of new types or shapes, or with new Python values, traces `func`: what it builds becomes a function
    of the graph's library, and each call a node that calls it (in eager execution: a step that runs it).

    input_signature: a sequence of `tf.TensorSpec`: then there is one trace, for tensors that fit. autograph: whether
    Python's `if`, `while` and `for` over tensors become the graph's. experimental_relax_shapes: whether shapes that differ
    from call to call share a trace for all of them. experimental_compile: whether XLA compiles it, where there is XLA.
    """

    def decorated(python_function: Callable[..., Any]) -> PolymorphicFunction:
        return PolymorphicFunction(
            python_function,
            input_signature,
            autograph,
            experimental_autograph_options,
            experimental_relax_shapes,
            experimental_compile,
        )

    return decorated if func is None else decorated(func)
