"""`tf.saved_model.load` of 2.x (`load_v2`): the objects of a SavedModel, with variables and functions. Source: TF 1.15.

What the program that saved them had as objects of its own comes back as plain trackable objects with the same attributes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saved_object_graph_pb2 import SavedObject
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import as_shape
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.formats.tensor import make_ndarray
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.imported import ImportedLibrary
from tfexp.functions.restored import RestoredFunction
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant
from tfexp.graph.graphdef import without_later_attrs
from tfexp.graph.scopes import add_to_collection, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.save import restore_v2
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization
from tfexp.train import saved_model_names as names
from tfexp.train.object_graph import OBJECT_GRAPH_KEY
from tfexp.train.object_models import revived_types
from tfexp.train.object_models.assets import Asset
from tfexp.train.object_models.of_sessions import load_of_session
from tfexp.train.object_models.structures import decode, decode_parameters
from tfexp.train.saved_model_loader import parse_saved_model


class Restored(Trackable):
    """What an object of the program that saved it is here. It gets its parts when all objects are there."""

    def take_parts(self, parts: dict[str, Any]) -> None:
        """Have these, by their names, as attributes."""
        vars(self).update(parts)


class RestoredObject(Restored):
    """An object of no class that is known here."""


class _CallableObject(RestoredObject):
    """One that could be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


class RestoredResource(Restored):
    """Something with a state that functions of the model make and fill: a table."""

    _handle: Tensor | None = None

    @property
    def resource_handle(self) -> Tensor:
        if self._handle is None:
            self._handle = vars(self)["_create_resource"]()
        return self._handle


class Signatures(Mapping[str, ConcreteFunction]):
    """The functions that serve a model, by the keys of its signatures."""

    def __init__(self, functions: Mapping[str, ConcreteFunction]):
        self._functions = dict(functions)

    def __getitem__(self, key: str) -> ConcreteFunction:
        return self._functions[key]

    def __iter__(self) -> Any:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"Signatures({self._functions})"


def load_v2(export_dir: Any, tags: Iterable[str] | str | None = None) -> Any:
    """The object that `tf.saved_model.save` wrote into a folder: its attributes are variables, functions, further objects.

    `signatures` has the functions that serve it, each to be called with keyword arguments; `tensorflow_version` and
    `tensorflow_git_version` are those of the program that wrote it. In graphs the initializers of the variables read the
    values. tags: those of the MetaGraph; ValueError where it has others. OSError: there is no SavedModel.
    Where a session wrote it, and no objects are in it, the result is a `SessionModel`.
    """
    if not _has_objects(parse_saved_model(export_dir)):
        return load_of_session(export_dir, tags)
    return load_objects(export_dir, tags, lambda number, identifier: None)


def load_objects(export_dir: Any, tags: Iterable[str] | str | None, revive: Callable[[int, str], Restored | None]) -> Any:
    """`load_v2`, with objects of classes that `revive` knows, by their numbers and identifiers; for others it has None."""
    folder = os.fspath(export_dir)
    saved_model = parse_saved_model(folder)
    meta_graph = saved_model.meta_graphs[0]
    if not _has_objects(saved_model):
        raise NotImplementedError(
            f"The SavedModel in {folder} has no objects: a SavedModelBuilder wrote its {len(saved_model.meta_graphs)} "
            "graph(s), which tf.saved_model.loader.load reads into a session."
        )
    own = set(meta_graph.meta_info_def.tags)
    wanted = own if tags is None else {tags} if isinstance(tags, str) else set(tags)
    if own != wanted:
        raise ValueError(
            f"The SavedModel at {folder} has one MetaGraph with tags {sorted(own)}, but got an incompatible argument "
            f"tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or pass matching tags."
        )
    root = _Loading(folder, meta_graph, revive).root()
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
    return root


def _has_objects(saved_model: Any) -> bool:
    graphs = saved_model.meta_graphs
    return len(graphs) == 1 and bool(graphs[0].HasField("object_graph_def"))


class _Loading:
    """The objects of one MetaGraph, by their numbers."""

    def __init__(self, folder: str, meta_graph: MetaGraphDef, revive: Callable[[int, str], Restored | None]):
        self._folder, self._meta_graph, self._revive = folder, meta_graph, revive
        self._nodes = meta_graph.object_graph_def.nodes
        self._signatures = meta_graph.object_graph_def.concrete_functions
        self._graph = get_default_graph()
        self._constants = {node.name: node for node in meta_graph.graph_def.node if node.op == "Const"}
        self._variables = os.path.join(folder, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME)
        self._keys = self._checkpoint_keys()
        graph_def = without_later_attrs(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list)
        self._library = ImportedLibrary(self._graph, graph_def.library, self._signatures)
        self._concrete: dict[str, ConcreteFunction] = {}
        self._objects: dict[int, Any] = {}
        self._setters: dict[int, Callable[[Any, str, Any], None]] = {}  # of types that are registered
        for number, node in enumerate(self._nodes):
            maker = self._makers.get(node.WhichOneof("kind"))
            if maker is not None:
                self._objects[number] = maker(self, number, node)

    def root(self) -> Any:
        for number in range(len(self._nodes)):
            self._object(number)
        # What contains others does so only now that all are there; tuples and signatures cannot be filled later.
        # Lists come before what has them, since an attribute may be looked into as it is set.
        for number, node in reversed(list(enumerate(self._nodes))):
            parts = {child.local_name: self._objects[child.node_id] for child in node.children}
            if number not in self._setters:
                _fill(self._objects[number], parts)
                continue
            for name, part in parts.items():
                self._setters[number](self._objects[number], name, part)
        for number, value in self._objects.items():
            if isinstance(value, RestoredResource):
                self._initialize(number, value)
        return self._objects[0]

    # --- values --------------------------------------------------------------------------------------------------------

    def _checkpoint_keys(self) -> dict[int, str]:
        """The key of each variable: found along the same names in the checkpoint's graph of objects."""
        if not os.path.exists(f"{self._variables}.index"):
            return {}
        with open_checkpoint(self._variables) as reader:
            written = TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH_KEY)).nodes
        numbers = {0: 0}  # in the checkpoint, by those here
        pending = [0]
        while pending:
            number = pending.pop()
            theirs = {child.local_name: child.node_id for child in written[numbers[number]].children}
            for child in self._nodes[number].children:
                if child.local_name in theirs and child.node_id not in numbers:
                    numbers[child.node_id] = theirs[child.local_name]
                    pending.append(child.node_id)
        for number, node in enumerate(self._nodes):
            slots = {(s.original_variable_node_id, s.slot_name): s for s in written[numbers.get(number, 0)].slot_variables}
            for slot in node.slot_variables:
                found = slots.get((numbers.get(slot.original_variable_node_id), slot.slot_name))
                if found is not None:
                    numbers[slot.slot_variable_node_id] = found.slot_variable_node_id
        return {
            number: written[there].attributes[0].checkpoint_key
            for number, there in numbers.items()
            if written[there].attributes
        }

    def _variable(self, number: int, node: SavedObject) -> Any:
        proto = node.variable
        shape, dtype = as_shape(proto.shape), as_dtype(proto.dtype)
        if number not in self._keys:
            raise ValueError(f"The checkpoint {self._variables} has no value for the variable {proto.name or number!r}")

        def read() -> Tensor:
            (value,) = restore_v2(self._variables, [self._keys[number]], [""], dtypes=[dtype])
            value.set_shape(shape)
            return value

        return Variable(
            initial_value=read,
            trainable=proto.trainable,
            name=proto.name or None,
            dtype=dtype,
            use_resource=True,
            synchronization=VariableSynchronization(proto.synchronization),
            aggregation=VariableAggregation(proto.aggregation),
        )

    def _constant(self, number: int, node: SavedObject) -> Tensor:
        proto = self._constants[node.constant.operation].attr["value"].tensor
        return constant(make_ndarray(proto), dtype=as_dtype(proto.dtype))

    def _asset(self, number: int, node: SavedObject) -> Asset:
        name = self._meta_graph.asset_file_def[node.asset.asset_file_def_index].filename
        return Asset(os.path.join(self._folder, names.ASSETS_DIRECTORY, name))

    def _user_object(self, number: int, node: SavedObject) -> Any:
        kind = node.user_object.identifier
        if kind in _CONTAINERS:
            return _CONTAINERS[kind]()
        registered = revived_types.deserialize(node.user_object)
        if registered is not None:
            made, self._setters[number] = registered
            return made
        revived = self._revive(number, kind)
        if revived is not None:
            return revived
        return _CallableObject() if any(c.local_name == "__call__" for c in node.children) else RestoredObject()

    _makers: Mapping[str | None, Callable[..., Any]] = {
        "user_object": _user_object,
        "variable": _variable,
        "constant": _constant,
        "asset": _asset,
        "resource": lambda self, number, node: RestoredResource(),
    }

    # --- functions -------------------------------------------------------------------------------------------------------

    def _object(self, number: int) -> Any:
        if number not in self._objects:
            node = self._nodes[number]
            kind = node.WhichOneof("kind")
            if kind == "bare_concrete_function":
                made: Any = self._concrete_function(node.bare_concrete_function.concrete_function_name)
            elif kind == "function":
                signature, input_signature = decode_parameters(node.function.function_spec)
                functions = [self._concrete_function(name) for name in node.function.concrete_functions]
                made = RestoredFunction(self._name_of(number), signature, input_signature, functions)
            else:
                raise NotImplementedError(f"The SavedModel in {self._folder} has an object that cannot be read: {node}")
            self._objects[number] = made
        return self._objects[number]

    def _name_of(self, number: int) -> str:
        """The name of the attribute that it is."""
        return next(c.local_name for node in self._nodes for c in node.children if c.node_id == number)

    def _concrete_function(self, name: str) -> ConcreteFunction:
        if name not in self._concrete:
            proto = self._signatures[name]
            self._concrete[name] = self._library.concrete_function(
                name,
                [self._captured(number) for number in proto.bound_inputs],
                decode(proto.canonicalized_input_signature),
                decode(proto.output_signature),
            )
        return self._concrete[name]

    def _captured(self, number: int) -> Tensor:
        """The tensor that a function takes of an object."""
        value: Any = self._objects.get(number)
        if isinstance(value, Variable):
            handle: Tensor = value.handle  # type: ignore[attr-defined]  # all are made behind one
            return handle
        if isinstance(value, Asset):
            return value.asset_path
        if isinstance(value, RestoredResource):
            children = {child.local_name: child.node_id for child in self._nodes[number].children}
            vars(value)["_create_resource"] = self._object(children["_create_resource"])
            return value.resource_handle
        if isinstance(value, Tensor):
            return value
        raise NotImplementedError(f"A function of the SavedModel in {self._folder} uses: {self._nodes[number]}")

    def _initialize(self, number: int, resource: RestoredResource) -> None:
        fill = vars(resource).get("_initialize")
        if fill is not None:
            done = fill()
            if not executing_eagerly():
                add_to_collection(GraphKeys.TABLE_INITIALIZERS, getattr(done, "op", done))


_CONTAINERS: dict[str, Callable[[], Any]] = {
    "trackable_list_wrapper": list,
    "trackable_tuple_wrapper": list,
    "trackable_dict_wrapper": dict,
    "signature_map": lambda: Signatures({}),
}


def _fill(container: Any, parts: dict[str, Any]) -> None:
    if isinstance(container, list):
        container.extend(parts[key] for key in sorted(parts, key=int))
    elif isinstance(container, dict):
        container.update(parts)
    elif isinstance(container, Signatures):
        container._functions.update(parts)
    elif isinstance(container, Restored):
        container.take_parts(parts)
