"""MetaGraphDef: a graph with its collections and saver, out and in. Source: `tf.train.export_meta_graph`, TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, op_def_pb2, saver_pb2, variable_pb2

from tfexp.core import errors
from tfexp.core.op import Op, find_op
from tfexp.formats.atomic_file import replace_file
from tfexp.graph import attrs as attr_codec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.variable_base import Variable

_TENSORFLOW_VERSION = "1.15.0"

# The collections whose items travel as protos of their own, and how they come back.
_PROTO_COLLECTIONS: dict[str, tuple[Any, Any]] = {}


def register_proto_function(collection_name: str, to_proto: Any, from_proto: Any) -> None:
    """How a collection's items become protos, `to_proto(item, export_scope)`, and come back from their bytes."""
    _PROTO_COLLECTIONS[collection_name] = (to_proto, from_proto)


def _variable_to_proto(variable: Any, export_scope: str | None) -> Message | None:
    proto: Message | None = variable.to_proto(export_scope=export_scope)
    return proto


def _variable_from_proto(data: bytes, import_scope: str | None) -> Any:
    return Variable.from_proto(variable_pb2.VariableDef.FromString(data), import_scope=import_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
):
    register_proto_function(_key, _variable_to_proto, _variable_from_proto)


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
    **kwargs: Any,
) -> meta_graph_pb2.MetaGraphDef:
    """`graph` (the default graph if None) as a MetaGraphDef, written to `filename` where given.

    `export_scope` takes the nodes below a name scope, with names relative to it; `collection_list` the collections to keep.
    Items of collections that cannot be written are left out.
    """
    graph = graph or get_default_graph()
    definition = meta_graph_pb2.MetaGraphDef()
    if meta_info_def is not None:
        definition.meta_info_def.CopyFrom(meta_info_def)
    source = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    definition.graph_def.CopyFrom(_scoped(source, export_scope))
    for node in definition.graph_def.node:
        if clear_devices:
            node.device = ""
        if strip_default_attrs:
            _strip_defaults(node)
    _add_op_list(definition)
    definition.meta_info_def.tensorflow_version = _TENSORFLOW_VERSION
    definition.meta_info_def.stripped_default_attrs = strip_default_attrs
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        _add_collection(definition, graph, key, export_scope, clear_extraneous_savers)
    if saver_def is not None:
        definition.saver_def.CopyFrom(saver_def)
    if filename:
        _write(filename, definition, as_text)
    return definition


def _write(filename: str, definition: Message, as_text: bool) -> None:
    if as_text:
        replace_file(filename, text_format.MessageToString(definition).encode())
    else:
        replace_file(filename, definition.SerializeToString(deterministic=True))


def _scoped(graph_def: graph_pb2.GraphDef, scope: str | None) -> graph_pb2.GraphDef:
    """The nodes below `scope`, named relative to it; inputs from outside must be mapped again on import."""
    if not scope:
        return graph_def
    prefix = scope.rstrip("/") + "/"
    out = graph_pb2.GraphDef(versions=graph_def.versions)
    out.library.CopyFrom(graph_def.library)
    for node in graph_def.node:
        if not node.name.startswith(prefix):
            continue
        copy = out.node.add()
        copy.CopyFrom(node)
        copy.name = node.name[len(prefix) :]
        for i, text in enumerate(node.input):
            mark = "^" if text.startswith("^") else ""
            name = text[len(mark) :]
            if name.startswith(prefix):
                copy.input[i] = mark + name[len(prefix) :]
            else:
                copy.input[i] = f"{mark}$unbound_inputs_{name}"
        groups = copy.attr["_class"].list.s if "_class" in copy.attr else []
        for i, group in enumerate(groups):
            groups[i] = group.replace(b"loc:@" + prefix.encode(), b"loc:@", 1)
    return out


def _strip_defaults(node: Any) -> None:
    op = find_op(node.op)
    if op is None:
        return
    for key, attr in op.attrs.items():
        if attr.has_default and key in node.attr and node.attr[key] == attr_codec.to_proto(attr.kind, attr.default):
            del node.attr[key]


def _add_op_list(definition: meta_graph_pb2.MetaGraphDef) -> None:
    """The declarations of the ops that the graph uses, by name."""
    for name in sorted({node.op for node in definition.graph_def.node}):
        op = find_op(name)
        if op is not None:
            definition.meta_info_def.stripped_op_list.op.append(op_def(op))


def op_def(op: Op) -> op_def_pb2.OpDef:
    """An op's signature as TensorFlow's OpDef proto."""
    proto = op_def_pb2.OpDef(
        name=op.name,
        is_stateful=op.is_stateful,
        is_commutative=op.is_commutative,
        is_aggregate=op.is_aggregate,
        allows_uninitialized_input=op.allows_uninitialized_input,
    )
    for args, field in ((op.inputs, proto.input_arg), (op.outputs, proto.output_arg)):
        for arg in args:
            field.add(
                name=arg.name,
                type=arg.dtype.as_datatype_enum if arg.dtype is not None else 0,
                type_attr=arg.type_attr or "",
                number_attr=arg.number_attr or "",
                type_list_attr=arg.type_list_attr or "",
                is_ref=arg.is_ref,
            )
    for attr in op.attrs.values():
        one = proto.attr.add(name=attr.name, type=attr.kind)
        if attr.has_default:
            one.default_value.CopyFrom(attr_codec.to_proto(attr.kind, attr.default))
        if attr.minimum is not None:
            one.has_minimum, one.minimum = True, attr.minimum
        if attr.allowed is not None:
            element = attr.kind[5:-1] if attr.kind.startswith("list(") else attr.kind
            one.allowed_values.CopyFrom(attr_codec.to_proto(f"list({element})", list(attr.allowed)))
    return proto


def _add_collection(
    definition: meta_graph_pb2.MetaGraphDef, graph: Any, key: str, scope: str | None, clear_extraneous_savers: bool
) -> None:
    if key == GraphKeys.SAVERS and clear_extraneous_savers:
        return
    items = graph.get_collection(key)
    if not items:
        return
    to_proto, _ = _PROTO_COLLECTIONS.get(key, (None, None))
    collection = meta_graph_pb2.CollectionDef()
    for item in items:
        _add_item(collection, key, item, scope, to_proto)
    if collection.WhichOneof("kind") is not None:
        definition.collection_def[key].CopyFrom(collection)


def _add_item(collection: Any, key: str, item: Any, scope: str | None, to_proto: Any) -> None:
    if to_proto is not None:
        proto = to_proto(item, scope)
        if proto is not None:
            collection.bytes_list.value.append(proto.SerializeToString(deterministic=True))
    elif isinstance(item, bool):
        collection.int64_list.value.append(int(item))
    elif isinstance(item, int):
        collection.int64_list.value.append(item)
    elif isinstance(item, float):
        collection.float_list.value.append(item)
    elif isinstance(item, (bytes, str)):
        collection.bytes_list.value.append(attr_codec.as_bytes(item))
    elif hasattr(item, "to_proto"):
        proto = item.to_proto(export_scope=scope)
        if proto is not None:
            collection.bytes_list.value.append(proto.SerializeToString(deterministic=True))
    elif hasattr(item, "name") and hasattr(item, "graph"):
        prefix = f"{scope.rstrip('/')}/" if scope else ""
        if item.name.startswith(prefix):
            collection.node_list.value.append(item.name[len(prefix) :])


def read_meta_graph(meta_graph_or_file: Any) -> meta_graph_pb2.MetaGraphDef:
    """The MetaGraphDef of a proto or a file (binary or text). OSError if there is no file, DataLossError if damaged."""
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
        raise errors.DataLossError(None, None, f"{path}: not a MetaGraphDef: {error}") from None
    return definition


def import_scoped_meta_graph(
    definition: meta_graph_pb2.MetaGraphDef,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> None:
    """Add the graph and the collections of a MetaGraphDef to the default graph, below `import_scope`."""
    graph_def = graph_pb2.GraphDef()
    graph_def.CopyFrom(definition.graph_def)
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    graph = get_default_graph()
    scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else ""
    import_graph_def(graph_def, name=import_scope or "", **kwargs)
    for key, collection in sorted(definition.collection_def.items()):
        for item in _items(graph, key, collection, scope):
            graph.add_to_collection(key, item)


def _items(graph: Any, key: str, collection: Any, scope: str) -> Iterable[Any]:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = getattr(collection, kind).value
    _, from_proto = _PROTO_COLLECTIONS.get(key, (None, None))
    if from_proto is not None and kind == "bytes_list":
        known: dict[bytes, Any] = graph.__dict__.setdefault("_imported_items", {})
        for data in values:
            # One variable may be in several collections: it stays one object.
            identity = scope.encode() + b"\0" + data
            if identity not in known:
                known[identity] = from_proto(data, scope or None)
            yield known[identity]
    elif kind == "node_list":
        for name in values:
            yield graph.as_graph_element(f"{scope}/{name}" if scope else name)
    else:
        yield from values
