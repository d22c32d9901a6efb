"""The default graph and the functions that act on it: `tf.device`, `tf.name_scope`, `tf.control_dependencies`, …"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from tfexp.graph import defaults
from tfexp.graph.defaults import Pushed
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


class _OfThread(threading.local):
    """What a thread builds outside of all blocks: each has a graph of its own, made when it is asked for."""

    graph: Graph | None = None


_of_thread = _OfThread()
_of_process: Graph | None = None  # where ops run at once: once eager execution is on, it is so in all threads


def get_default_graph() -> Graph:
    """The innermost `Graph.as_default()` of this thread, or the thread's own default graph."""
    current: Graph | None = defaults.graph_stack.current or global_default_graph()
    if current is None:
        current = _of_thread.graph = Graph()
    return current


def reset_default_graph() -> None:
    """Start over with an empty default graph. AssertionError inside a graph context.

    An open InteractiveSession stays that of its graph. In eager execution there are no nodes to forget: the collections are.
    """
    if not defaults.graph_stack.is_empty:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
            "the nesting and create a new graph."
        )
    _of_thread.graph = None
    if _of_process is not None:
        for name in _of_process.collections:
            _of_process.clear_collection(name)


def global_default_graph() -> Graph | None:
    """The default graph outside of all blocks, None as long as nobody has asked for it."""
    return _of_process or _of_thread.graph


def set_global_default_graph(graph: Graph) -> None:
    """Make it the default graph of all threads (eager execution does that)."""
    global _of_process
    _of_process = graph


def executing_eagerly() -> bool:
    """Whether ops run at once here: eager execution is on, and no graph is being built. Source: `tf.executing_eagerly`."""
    current: Graph | None = defaults.graph_stack.current or global_default_graph()
    return current is not None and current.is_eager


def elements_of(values: Iterable[Any]) -> Iterator[Any]:
    """The tensors and operations among `values`, composite values (IndexedSlices, SparseTensor) by their parts."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from elements_of(value)
        elif isinstance(value, (Tensor, Operation)):
            yield value
        elif hasattr(value, "_as_graph_element"):
            yield value._as_graph_element()
        elif isinstance(getattr(value, "values", None), Tensor):
            yield value.values


def graph_of(values: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph that `values` live in, or the default graph; ValueError when they live in different ones.

    With `graph`, that one; ValueError when one of the values is not of it.

    A function that is being built takes values of the graphs around it.
    """
    default = get_default_graph()
    if default.building_function or default.is_eager:
        return default
    found: Any = None
    for element in elements_of(values):
        if graph is not None and element._graph is not graph:
            raise ValueError(f"{element} is not from the passed-in graph.")
        if found is None:
            found = element
        elif element._graph is not found._graph:
            raise ValueError(f"{element} must be from the same graph as {found}.")
    if graph is not None:
        return graph
    if found is None:
        return default
    if found._graph.is_eager:
        raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
    common: Graph = found._graph
    return common


class name_scope:  # noqa: N801 (TensorFlow's name)
    """`with tf.name_scope(name, default_name, values) as scope:` names new nodes below `scope`.

    `default_name` is used where `name` is None; `values` decide the graph. Without `default_name`, None or `""` goes to the
    root. Source: `tf.name_scope`, TF 1.15.
    """

    _default: Pushed | None  # what makes the graph of `values` the default
    _left: tuple[Graph, str]  # where the scope was opened, and what was there before

    def __init__(self, name: str | bytes | None, default_name: str | None = None, values: Any = None):
        if isinstance(name, bytes):
            name = name.decode()
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"tf.name_scope: name must be a string or None, got {name!r}")
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values
        if self._name is None and values is not None:
            raise ValueError(f"At least one of name ({name}) and default_name ({default_name}) must be provided.")

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        graph = get_default_graph()
        if graph.is_eager:
            # In few steps: it is around nearly every op, and only variables have names from it.
            self._default, self._left = None, (graph, graph._name_stack)
            graph._name_stack = graph._scope_below(self._name)
            return graph._name_stack + "/" if graph._name_stack else ""
        self._default = None
        if self._values is not None:
            graph = graph_of(self._values)
        self._left = (graph, graph._enter_name_scope(self._name))
        if self._values is not None:
            self._default = graph.as_default()
            self._default.__enter__()
        return graph._name_stack + "/" if graph._name_stack else ""

    def __exit__(self, *exc: Any) -> None:
        graph, before = self._left
        graph._name_stack = before
        if self._default is not None:
            self._default.__exit__()


def device(device_name_or_function: Any) -> Any:
    """`Graph.device` of the default graph."""
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    """`Graph.control_dependencies` of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """`Graph.colocate_with` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """`Graph.container` of the default graph."""
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """Add a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def collect(name: Any, value: Any) -> None:
    """`add_to_collection` of what the library makes: nothing where ops run at once: it would be kept alive."""
    if not executing_eagerly():
        add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Add a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """The values of a collection of the default graph, in a new list; with `scope`, those whose names begin as it says."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The list itself that holds a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


@contextlib.contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """The spelling before `tf.name_scope` took values: `tf.op_scope(values, name, default_name)`."""
    with name_scope(name, default_name, values) as scope:
        yield scope


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Leave control dependencies, control-flow contexts and functions that are being built, but not the name scope.

    This is where variables and slots are made. Source: `tf.init_scope`, TF 1.15.
    """
    current = get_default_graph()
    scope, graph = current.get_name_scope(), current.outermost
    with contextlib.ExitStack() as stack:
        if graph is not current:
            stack.enter_context(graph.as_default())
        stack.enter_context(graph.control_dependencies(None))
        stack.enter_context(graph.name_scope(scope + "/" if scope else None))
        yield
