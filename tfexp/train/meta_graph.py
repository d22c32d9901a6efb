"""MetaGraphDef: a graph with its collections and saver, out and in. Source: `tf.train.export_meta_graph`, TF 1.15."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, saver_pb2, variable_pb2

from tfexp.core.op import find_op
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.protos.control_flow import CondContextDef, WhileContextDef
from tfexp.graph import attrs as attr_codec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import CondContext
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.op_defs import op_def
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, strip_name_scope
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.versions import GIT_VERSION, VERSION
from tfexp.graph.while_context import WhileContext
from tfexp.ops.variable_base import Variable

_log = logging.getLogger("tensorflow")

# The collection that lists the inputs from outside of an exported scope, and how these are called in its graph.
UNBOUND = "unbound_inputs"
_UNBOUND_PREFIX = "$unbound_inputs_"

# The collections whose items travel as protos of their own, and how they come back.
_PROTO_COLLECTIONS: dict[str, tuple[Any, Any, Any]] = {}


def register_proto_function(
    collection_name: str, proto_type: Any = None, to_proto: Any = None, from_proto: Any = None
) -> None:
    """How a collection's items become messages of a type, `to_proto(item, export_scope=…)` (None: by their method of that
    name), and come back, `from_proto(message, import_scope=…)`. TypeError for what cannot be called."""
    for function in (to_proto, from_proto):
        if function is not None and not callable(function):
            raise TypeError(f"{collection_name!r}: to_proto and from_proto must be callable, not {function!r}")
    _PROTO_COLLECTIONS[collection_name] = (proto_type, to_proto, from_proto)


def proto_functions(collection_name: str) -> tuple[Any, Any, Any]:
    """What was registered for a collection: (type of messages, to_proto, from_proto); (None, None, None) for others."""
    return _PROTO_COLLECTIONS.get(collection_name, (None, None, None))


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
):
    register_proto_function(_key, variable_pb2.VariableDef, None, Variable.from_proto)

register_proto_function(GraphKeys.COND_CONTEXT, CondContextDef, None, CondContext.from_proto)
register_proto_function(GraphKeys.WHILE_CONTEXT, WhileContextDef, None, WhileContext.from_proto)


NO_GRAPH_EAGERLY = (
    "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager execution "
    "is enabled."
)


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: graph_pb2.GraphDef | None = None,
    saver_def: saver_pb2.SaverDef | None = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Any = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> meta_graph_pb2.MetaGraphDef:
    """`graph` (the default graph if None) as a MetaGraphDef, written to `filename` where given. Source: TF 1.15.

    `export_scope` takes the nodes below a name scope, with names relative to it; `collection_list` the collections to keep.
    Collections with items that cannot be written are left out, with a warning. `clear_extraneous_savers` drops all savers,
    and their nodes, but that of `saver_def`.
    """
    if executing_eagerly() and (graph is None or graph_def is None):
        raise RuntimeError(NO_GRAPH_EAGERLY)
    graph = graph or get_default_graph()
    definition = meta_graph_pb2.MetaGraphDef()
    if meta_info_def is not None:
        definition.meta_info_def.CopyFrom(meta_info_def)
    source = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    unbound: dict[str, None] = {}
    definition.graph_def.CopyFrom(_scoped(source, export_scope, unbound))
    if clear_extraneous_savers:
        _drop_other_savers(definition.graph_def, saver_def)
    for node in definition.graph_def.node:
        if clear_devices:
            node.device = ""
    if strip_default_attrs:
        strip_defaults(definition.graph_def)
    _add_op_list(definition)
    definition.meta_info_def.tensorflow_version = VERSION
    definition.meta_info_def.tensorflow_git_version = GIT_VERSION
    definition.meta_info_def.stripped_default_attrs = strip_default_attrs
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        if not (clear_extraneous_savers and key == GraphKeys.SAVERS):
            _add_collection(definition, graph, key, export_scope)
    if unbound:
        definition.collection_def[UNBOUND].bytes_list.value.extend(name.encode() for name in unbound)
    if clear_extraneous_savers and saver_def is not None:
        definition.collection_def[GraphKeys.SAVERS].bytes_list.value.append(saver_def.SerializeToString())
    if saver_def is not None:
        definition.saver_def.CopyFrom(saver_def)
    if filename:
        write_meta_graph(filename, definition, as_text)
    return definition


def write_meta_graph(filename: str, definition: Message, as_text: bool) -> None:
    if as_text:
        replace_file(filename, text_format.MessageToString(definition).encode())
    else:
        replace_file(filename, definition.SerializeToString(deterministic=True))


_SAVING_OPS = frozenset(("SaveV2", "RestoreV2", "Save", "SaveSlices", "Restore", "RestoreSlice", "MergeV2Checkpoints"))


def _drop_other_savers(graph_def: graph_pb2.GraphDef, own: saver_pb2.SaverDef | None) -> None:
    """Remove the nodes of all savers, each in a name scope of its own, but those of `own`."""
    kept = own.filename_tensor_name.rpartition("/")[0] if own is not None else ""
    scopes = {node.name.rpartition("/")[0] for node in graph_def.node if node.op in _SAVING_OPS} - {kept, ""}
    remaining = [node for node in graph_def.node if not any(node.name.startswith(f"{scope}/") for scope in scopes)]
    if len(remaining) < len(graph_def.node):
        del graph_def.node[:]
        graph_def.node.extend(remaining)


def _scoped(graph_def: graph_pb2.GraphDef, scope: str | None, unbound: dict[str, None]) -> graph_pb2.GraphDef:
    """The nodes below `scope`, named relative to it; what stands for inputs from outside is added to `unbound`."""
    if not scope:
        return graph_def
    out = graph_pb2.GraphDef(versions=graph_def.versions)
    out.library.CopyFrom(graph_def.library)
    for node in graph_def.node:
        if not is_exported(node.name, scope):
            continue
        copy = out.node.add()
        copy.CopyFrom(node)
        copy.name = strip_name_scope(node.name, scope)
        for i, text in enumerate(node.input):
            mark = "^" if text.startswith("^") else ""
            name = text[len(mark) :]
            if is_exported(name, scope):
                copy.input[i] = strip_name_scope(text, scope)
            else:
                unbound[f"{mark}{_UNBOUND_PREFIX}{name}"] = None
                copy.input[i] = f"{mark}{_UNBOUND_PREFIX}{name}"
        groups = copy.attr["_class"].list.s if "_class" in copy.attr else []
        for i, group in enumerate(groups):
            groups[i] = strip_name_scope(group.decode(), scope).encode()
    return out


def strip_defaults(graph_def: graph_pb2.GraphDef) -> None:
    """Take out the attributes that have their default values, also of the nodes of its functions."""
    bodies = [function.node_def for function in graph_def.library.function]
    for node in itertools.chain(graph_def.node, *bodies):
        op = find_op(node.op)
        for key, attr in {} if op is None else op.attrs.items():
            if attr.has_default and key in node.attr and node.attr[key] == attr_codec.to_proto(attr.kind, attr.default):
                del node.attr[key]


def _add_op_list(definition: meta_graph_pb2.MetaGraphDef) -> None:
    """The declarations of the ops that the graph uses, by name."""
    for name in sorted({node.op for node in definition.graph_def.node}):
        op = find_op(name)
        if op is not None:
            definition.meta_info_def.stripped_op_list.op.append(op_def(op))


def _add_collection(definition: meta_graph_pb2.MetaGraphDef, graph: Any, key: Any, scope: str | None) -> None:
    if not isinstance(key, str):
        return
    _, to_proto, _ = proto_functions(key)
    collection = meta_graph_pb2.CollectionDef()
    for item in graph.get_collection(key):
        kind, value = _exported(item, scope, to_proto, key in _PROTO_COLLECTIONS)
        if kind is None or collection.WhichOneof("kind") not in (None, kind):
            _log.warning(
                "Collection %r is left out of the MetaGraph: %s is of another kind or of none that can be written",
                key,
                type(item).__name__,
            )
            return
        if value is not None:
            getattr(collection, kind).value.append(value)
    if collection.WhichOneof("kind") is not None:
        definition.collection_def[key].CopyFrom(collection)


def _exported(item: Any, scope: str | None, to_proto: Any, registered: bool) -> tuple[str | None, Any]:
    """(which field of a CollectionDef, value); no value for what lies outside of `scope`.

    A variable in a collection of a program's own, which is not `registered`, comes back as its tensor.
    """
    if to_proto is None and hasattr(item, "to_proto") and not (isinstance(item, Variable) and not registered):
        to_proto = _own_proto
    if to_proto is not None:
        proto = to_proto(item, export_scope=scope)
        return "bytes_list", None if proto is None else proto.SerializeToString(deterministic=True)
    if isinstance(item, Packed):
        return "any_list", item
    if isinstance(item, (bool, int)):
        return "int64_list", int(item)
    if isinstance(item, float):
        return "float_list", item
    if isinstance(item, (bytes, str)):
        return "bytes_list", attr_codec.as_bytes(item)
    if isinstance(item, (Operation, Tensor, Variable)) or hasattr(item, "_as_graph_element"):
        return "node_list", strip_name_scope(item.name, scope) if is_exported(item.name, scope) else None
    return None, None


def _own_proto(item: Any, export_scope: str | None = None) -> Message | None:
    proto: Message | None = item.to_proto(export_scope=export_scope)
    return proto


def read_meta_graph(meta_graph_or_file: Any) -> meta_graph_pb2.MetaGraphDef:
    """The MetaGraphDef of a proto or a file (binary or text). OSError if there is no file, or no such proto in it."""
    if isinstance(meta_graph_or_file, meta_graph_pb2.MetaGraphDef):
        return meta_graph_or_file
    if isinstance(meta_graph_or_file, Message):
        # TensorFlow's own class: the bytes are the same.
        return meta_graph_pb2.MetaGraphDef.FromString(meta_graph_or_file.SerializeToString())
    path = os.fspath(meta_graph_or_file)
    if not os.path.exists(path):
        raise OSError(f"File {path} does not exist.")
    with open(path, "rb") as file:
        data = file.read()
    try:
        return meta_graph_pb2.MetaGraphDef.FromString(data)
    except DecodeError:
        pass  # perhaps it is text
    definition = meta_graph_pb2.MetaGraphDef()
    try:
        text_format.Merge(data.decode(), definition)
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {path}: {error}") from None
    return definition


def import_scoped_meta_graph(
    definition: meta_graph_pb2.MetaGraphDef,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> str:
    """Add the graph and the collections of a MetaGraphDef to the default graph, below `import_scope` or the scope around.

    `restore_collections_predicate(key)`: whether to add that collection. Returns the scope that was free.
    ValueError where inputs from outside an exported scope are not in `input_map`.
    """
    return import_scoped_meta_graph_with_return_elements(definition, clear_devices, import_scope, **kwargs)[0]


def import_scoped_meta_graph_with_return_elements(
    definition: meta_graph_pb2.MetaGraphDef,
    clear_devices: bool = False,
    import_scope: str | None = None,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    **kwargs: Any,
) -> tuple[str, list[Any] | None]:
    """`import_scoped_meta_graph`, and what its `return_elements` names, as it was imported (None without that)."""
    given = kwargs.get("input_map") or {}
    unbound = definition.collection_def[UNBOUND].bytes_list.value if UNBOUND in definition.collection_def else []
    missing = [name for name in map(attr_codec.as_text, unbound) if name not in given]
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs through input_map.")
    graph_def = graph_pb2.GraphDef()
    graph_def.CopyFrom(definition.graph_def)
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    graph = get_default_graph()
    scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else graph.get_name_scope()
    name = import_scope or (f"{scope}/" if scope else "")
    made_with = definition.meta_info_def.stripped_op_list
    elements = import_graph_def(graph_def, name=name, **{"producer_op_list": made_with, **kwargs})
    for key, collection in sorted(definition.collection_def.items()):
        if key != UNBOUND and restore_collections_predicate(key):
            for item in _items(graph, key, collection, scope):
                graph.add_to_collection(key, item)
    return scope, elements


def _items(graph: Any, key: str, collection: Any, scope: str) -> Iterable[Any]:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = getattr(collection, kind).value
    proto_type, _, from_proto = proto_functions(key)
    if proto_type is not None and from_proto is not None and kind == "bytes_list":
        known: dict[bytes, Any] = graph.__dict__.setdefault("_imported_items", {})
        for data in values:
            # One variable may be in several collections: it stays one object.
            identity = scope.encode() + b"\0" + data
            if identity not in known:
                known[identity] = from_proto(proto_type.FromString(data), import_scope=scope or None)
            yield known[identity]
    elif kind == "node_list":
        for name in values:
            yield graph.as_graph_element(f"{scope}/{name}" if scope else name)
    else:
        yield from values
