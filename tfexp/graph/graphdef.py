"""GraphDef in: `tf.import_graph_def`. Source: TF 1.15. (GraphDef out is `Graph.as_graph_def`.)"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto import function_pb2, graph_pb2

from tfexp.core.op import find_op
from tfexp.core.text import as_str_any
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.importer import Importer
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: list[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Add the nodes of `graph_def` to the default graph below the scope `name` (`"import"` if None, `""`: the root).

    `input_map` replaces inputs of the imported nodes (`"x"`, `"x:1"`, or `"^ctrl"`) by tensors (operations) of this graph.
    Returns the operations and tensors named by `return_elements`, or None. Raises TypeError for wrong argument types and
    ValueError, naming every offending node, for graphs that cannot be imported; then nothing has been added.
    `producer_op_list` (an OpList) says what the ops look like to whoever made the graph: attributes that they have and ours
    have not are left out where they have their defaults.
    """
    if not isinstance(graph_def, graph_pb2.GraphDef):
        if type(graph_def).__name__ != "GraphDef":
            raise TypeError("graph_def must be a GraphDef proto.")
        # A GraphDef of another protobuf package (TensorFlow's own): the bytes are the same.
        graph_def = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    if producer_op_list is not None:
        graph_def = without_later_attrs(graph_def, producer_op_list)
    if input_map is None:
        input_map = {}
    elif not (isinstance(input_map, dict) and all(isinstance(key, (str, bytes)) for key in input_map)):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not all(isinstance(e, (str, bytes)) for e in return_elements):
        raise TypeError("return_elements must be a list of strings.")
    input_map = {as_str_any(key): value for key, value in input_map.items()}
    return_elements = None if return_elements is None else [as_str_any(e) for e in return_elements]
    graph = get_default_graph()
    with name_scope(name, "import", list(input_map.values())) as scope:
        importer = Importer(graph, graph_def, scope, _mapped(name, input_map))
        with _library_added(graph, graph_def.library):
            importer.check_versions(graph_def.versions)
            importer.check_colocation()
            importer.check(return_elements or [])
            importer.add_all()
            graph._merge_versions(graph_def.versions)
        return None if return_elements is None else [importer.element(e) for e in return_elements]


def extend_graph(graph: Graph, graph_def: graph_pb2.GraphDef, input_map: dict[str, Any]) -> None:
    """Add nodes that another process has named, as `import_graph_def` does with `name=""`, but for one thing.

    They may be colocated with nodes that are not among them: with some of the graph, or some that nobody needs here.
    """
    with graph.as_default(), name_scope(""):
        importer = Importer(graph, graph_def, "", input_map)
        with _library_added(graph, graph_def.library):
            importer.check_versions(graph_def.versions)
            importer.check([])
            importer.add_all()


def without_later_attrs(graph_def: graph_pb2.GraphDef, producer_op_list: Any) -> graph_pb2.GraphDef:
    """The graph without attributes that our ops do not have, where they say nothing but the producer's default."""
    if not hasattr(producer_op_list, "op"):
        raise TypeError(f"producer_op_list must be an OpList, got {type(producer_op_list).__name__}")
    defaults = {
        op.name: {attr.name: attr.default_value for attr in op.attr if attr.HasField("default_value")}
        for op in producer_op_list.op
    }
    kept = graph_pb2.GraphDef()
    kept.CopyFrom(graph_def)
    for node in itertools.chain(kept.node, *(function.node_def for function in kept.library.function)):
        ours = find_op(node.op)
        theirs = defaults.get(node.op)
        if ours is None or theirs is None:
            continue
        for key in [key for key in node.attr if key not in ours.attrs and key in theirs]:
            if node.attr[key].SerializeToString(deterministic=True) == theirs[key].SerializeToString(deterministic=True):
                del node.attr[key]
    return kept


@contextlib.contextmanager
def _library_added(graph: Graph, library: function_pb2.FunctionDefLibrary) -> Iterator[None]:
    """Take the functions into the graph's library, and out again if the block fails; ValueError for a second meaning."""
    new: list[str] = []
    for definition in library.function:
        name = definition.signature.name
        known = graph._functions.get(name)
        if known is None:
            new.append(name)
            graph._functions[name] = Function.from_definition(definition, graph._functions)
        elif known.definition != definition:
            raise ValueError(f"Cannot add function {name!r} because a different function with the same name already exists.")
    try:
        yield
    except Exception:
        for name in new:
            del graph._functions[name]
        raise


def _mapped(name: str | None, input_map: dict[str, Any]) -> dict[str, Any]:
    if all(isinstance(value, (Tensor, Operation)) for value in input_map.values()):
        return input_map
    if name == "":
        raise ValueError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values.")
    with name_scope("_inputs"):
        return {key: v if isinstance(v, Operation) else convert_to_tensor(v) for key, v in input_map.items()}
