"""`tf.saved_model.save`: an object's variables and functions, and what it is served by. Source: TF 1.15.

assets/                  the files that belong to it, if any
saved_model.pb           one MetaGraph, tagged "serve": what serves it as a graph, all functions in its library, and the
                         graph of objects, in which functions say which objects their last arguments come from
variables/variables.*    a checkpoint of the object
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef
from tensorboard.compat.proto.saved_object_graph_pb2 import SavedObject, SavedObjectGraph

from tfexp.core import dtypes
from tfexp.core.nest import Composite, flatten, keys_in_order
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.function import Method, PolymorphicFunction
from tfexp.functions.restored import RestoredFunction
from tfexp.graph.convert import constant
from tfexp.graph.defaults import default_or_fallback_session
from tfexp.graph.dependencies import no_op
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.graph import Graph
from tfexp.graph.handles import owner_of
from tfexp.graph.scopes import add_to_collection, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder
from tfexp.ops.calls import call_function
from tfexp.ops.resource_state import assign_variable_op, read_variable_op, var_handle_op
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_base import Variable, node_name
from tfexp.train import saved_model_names as names
from tfexp.train.object_graph import ObjectGraph, Reached, object_graph
from tfexp.train.object_models import revived_types
from tfexp.train.object_models.assets import Asset
from tfexp.train.object_models.serving import serving_functions
from tfexp.train.object_models.structures import encode, encode_parameters
from tfexp.train.root_checkpoint import RootCheckpoint
from tfexp.train.saved_model_builder import asset_name, copy_assets
from tfexp.train.saver import Saver
from tfexp.train.signatures import build_signature_def, build_tensor_info, build_tensor_info_from_op

_FUNCTIONS = (PolymorphicFunction, Method, RestoredFunction, ConcreteFunction)


def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Write an object, its variables and its functions into a folder, for `tf.saved_model.load`.

    obj: a `tf.Module` or another trackable object. Of its attributes (and theirs) variables, other trackable objects, lists
    and dicts of them, and `tf.function`s are written, of these the traces that there are. signatures: a function, or {key:
    function}, each a `tf.function` with an input signature or a ConcreteFunction; by default the only function of `obj` that
    can be one. In graphs the default session has the values, or Keras's if there is none.

    ValueError: `obj` is not trackable, or a signature cannot be one. AssertionError: within a function, or where a function
    uses a variable that the object does not have.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer "
            "eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    folder = os.fspath(export_dir)
    objects = _Objects(obj, signatures)
    with Graph().as_default() as graph:
        meta_graph = _Exported(graph, objects, folder).meta_graph()
    variables, assets = (os.path.join(folder, one) for one in (names.VARIABLES_DIRECTORY, names.ASSETS_DIRECTORY))
    for each in (variables, assets):
        os.makedirs(each, exist_ok=True)
    _Checkpoint(obj, objects).write(os.path.join(variables, names.VARIABLES_FILENAME))
    saved_model = SavedModel(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
    saved_model.meta_graphs.add().CopyFrom(meta_graph)
    replace_file(os.path.join(folder, names.SAVED_MODEL_FILENAME_PB), saved_model.SerializeToString(deterministic=True))


def functions_of(value: Any) -> dict[str, Any]:
    """The functions among the attributes of an object, those of its class included."""
    of_class = [name for name in dir(type(value)) if isinstance(getattr(type(value), name, None), PolymorphicFunction)]
    own = [name for name, attribute in vars(value).items() if isinstance(attribute, _FUNCTIONS)]
    return {**{name: getattr(value, name) for name in sorted({*of_class, *own})}, **value._functions_to_save()}


class _Objects:
    """What is saved, numbered: the objects that the checkpoint has, too, then functions, then what these use."""

    def __init__(self, root: Any, signatures: Any):
        reached = Reached(root)
        self.keys = {id(value): key for key, value in object_graph(root).values.items()}
        self.values: list[Any] = list(reached.objects)
        self.parts: list[dict[str, int]] = [dict(parts) for parts in reached.parts]
        self.slots: list[tuple[int, str, int, int]] = []
        for owner, name, variable, slot in reached.slots():
            self.slots.append((owner, name, variable, self._add(slot)))
        self._captured = {id(value.handle): i for i, value in enumerate(self.values) if hasattr(value, "handle")}
        self._captured |= {id(value.asset_path): i for i, value in enumerate(self.values) if isinstance(value, Asset)}
        self.concrete: dict[str, ConcreteFunction] = {}
        self.traces: dict[int, list[ConcreteFunction]] = {}  # by the numbers of functions
        for number, value in enumerate(reached.objects):
            for name, one in functions_of(value).items() if isinstance(value, Trackable) else ():
                self.parts[number][name] = self._add_function(one)
        self.serving = serving_functions(signatures, functions_of(root))
        self.parts[0]["signatures"] = number = self._add(_SERVING)
        self.parts[number] = {key: self._add_function(one) for key, one in self.serving.items()}

    def _add(self, value: Any) -> int:
        self.values.append(value)
        self.parts.append({})
        return len(self.values) - 1

    def _add_function(self, function: Any) -> int:
        number = self._add(function)
        traces = [function] if isinstance(function, ConcreteFunction) else function.concrete_functions
        self.traces[number] = traces
        for one in traces:
            self.concrete[one.name] = one
            for tensor in one.captured_inputs:
                self.captured(tensor, one)
        return number

    def captured(self, tensor: Tensor, function: ConcreteFunction) -> int:
        """The number of what a function takes from the graph around it."""
        owner = owner_of(tensor)
        key = id(tensor if owner is None else owner.handle)
        if key not in self._captured:
            if tensor.dtype in (dtypes.resource, dtypes.variant):
                raise AssertionError(
                    f"Tried to export a function which references untracked object {owner or tensor!r} (in "
                    f"{function.name}). TensorFlow objects (e.g. tf.Variable) captured by functions must be tracked by "
                    "assigning them to an attribute of a tracked object or assigned to an attribute of the main object "
                    "directly."
                )
            self._captured[key] = self._add(tensor)
        return self._captured[key]


# In the place of the object that has the signatures.
_SERVING = object()


class _Checkpoint(RootCheckpoint):
    """A checkpoint that knows functions, too: TensorFlow 1.15 wants to find every object of the model in it."""

    def __init__(self, root: Any, objects: _Objects):
        super().__init__(root)
        self._objects = objects

    def _object_graph(self) -> ObjectGraph:
        graph = super()._object_graph()
        known = len(graph.proto.nodes)
        for number, parts in enumerate(self._objects.parts):
            node = graph.proto.nodes[number] if number < known else graph.proto.nodes.add()
            there = {child.local_name for child in node.children}
            for name, part in parts.items():
                if name not in there:
                    node.children.add(node_id=part, local_name=name)
        return graph


class _Exported:
    """The MetaGraph of objects, made in `graph`, the default one."""

    def __init__(self, graph: Graph, objects: _Objects, folder: str):
        self._graph, self._objects, self._folder = graph, objects, folder
        self._assets: list[AssetFileDef] = []
        self._paths: dict[str, str] = {}  # the name of each asset: where it came from
        self._saveables: list[SaveableObject] = []
        self._tensors: dict[int, Tensor] = {}  # here, by the numbers of what functions take
        self._names: dict[int, str] = {}

    def meta_graph(self) -> MetaGraphDef:
        for number, value in enumerate(self._objects.values):
            if isinstance(value, Variable):
                self._add_variable(number, value)
            elif isinstance(value, Asset):
                self._add_asset(number, value)
            elif isinstance(value, Tensor):
                self._tensors[number] = constant(_value_of(value), dtype=value.dtype)
        signatures = {key: self._served(key, function) for key, function in self._objects.serving.items()}
        start = no_op()
        add_to_collection(names.MAIN_OP_KEY, start)
        start_info = {names.INIT_OP_SIGNATURE_KEY: build_tensor_info_from_op(start)}
        signatures[names.INIT_OP_SIGNATURE_KEY] = build_signature_def(outputs=start_info)
        for function in self._objects.concrete.values():
            function.add_to_graph(self._graph)
        copy_assets(self._folder, self._paths)
        meta_graph: MetaGraphDef = Saver(self._saveables, allow_empty=True).export_meta_graph()
        meta_graph.meta_info_def.tags.append(names.SERVING)
        for key, signature in signatures.items():
            meta_graph.signature_def[key].CopyFrom(signature)
        meta_graph.asset_file_def.extend(self._assets)
        meta_graph.object_graph_def.CopyFrom(self._object_graph())
        return meta_graph

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _add_variable(self, number: int, variable: Any) -> None:
        dtype = variable.dtype.base_dtype
        name = self._names[number] = self._graph.unique_name(node_name(variable), mark_as_used=False)
        handle = self._tensors[number] = var_handle_op(shape=variable.shape, dtype=dtype, shared_name=name, name=name)
        with name_scope(f"{name}/Read/"):
            value = read_variable_op(handle, dtype=dtype)
        value.set_shape(variable.shape)
        self._saveables.append(_Behind(handle, value, self._objects.keys[id(variable)]))

    def _add_asset(self, number: int, asset: Asset) -> None:
        name = asset_name(asset.path, self._paths)
        self._paths[name] = asset.path
        self._tensors[number] = tensor = constant(asset.path, dtype=dtypes.string, name="asset_path")
        definition = AssetFileDef(filename=name)
        definition.tensor_info.name = tensor.name
        self._names[number] = str(len(self._assets))
        self._assets.append(definition)

    def _served(self, key: str, function: ConcreteFunction) -> Any:
        """The nodes that serve a signature."""
        given = {
            name: placeholder(tensor.dtype, tensor.shape, name=f"{key}_{name}")
            for name, tensor in zip(function.argument_names, function.arguments, strict=True)
        }
        captured = [self._tensors[self._objects.captured(tensor, function)] for tensor in function.captured_inputs]
        function.add_to_graph(self._graph)
        outputs = call_function(self._graph._functions[function.name], [*given.values(), *captured])
        returned = dict(zip(keys_in_order(function.structured_outputs), outputs, strict=True))
        return build_signature_def(
            {name: build_tensor_info(tensor) for name, tensor in given.items()},
            {name: build_tensor_info(tensor) for name, tensor in returned.items()},
            names.PREDICT_METHOD_NAME,
        )

    # --- the graph of objects ----------------------------------------------------------------------------------------

    def _object_graph(self) -> SavedObjectGraph:
        graph = SavedObjectGraph()
        objects = self._objects
        for number, (value, parts) in enumerate(zip(objects.values, objects.parts, strict=True)):
            node = graph.nodes.add()
            for name, part in parts.items():
                node.children.add(node_id=part, local_name=name)
            self._describe(node, number, value)
        for owner, name, variable, slot in objects.slots:
            graph.nodes[owner].slot_variables.add(
                original_variable_node_id=variable, slot_name=name, slot_variable_node_id=slot
            )
        for name, function in objects.concrete.items():
            proto = graph.concrete_functions[name]
            proto.bound_inputs.extend(objects.captured(tensor, function) for tensor in function.captured_inputs)
            proto.canonicalized_input_signature.CopyFrom(encode(function.structured_input_signature))
            proto.output_signature.CopyFrom(encode(_output_specs(function)))
        return graph

    def _describe(self, node: SavedObject, number: int, value: Any) -> None:
        if isinstance(value, Variable):
            _describe_variable(node.variable, value)
        elif isinstance(value, Asset):
            node.asset.asset_file_def_index = int(self._names[number])
        elif isinstance(value, Tensor):
            node.constant.operation = self._tensors[number].op.name
        elif isinstance(value, ConcreteFunction):
            bare = node.bare_concrete_function
            bare.concrete_function_name = value.name
            bare.argument_keywords.extend(value.argument_names)
            bare.allowed_positional_arguments = len(value.argument_names)
        elif isinstance(value, (PolymorphicFunction, Method, RestoredFunction)):
            node.function.concrete_functions.extend(one.name for one in self._objects.traces[number])
            node.function.function_spec.CopyFrom(encode_parameters(value.parameters.traced, value.input_signature))
        elif (registered := revived_types.serialize(value)) is not None:
            node.user_object.CopyFrom(registered)
        else:
            node.user_object.identifier = _kind(value)
            node.user_object.version.producer = node.user_object.version.min_consumer = 1
            node.user_object.metadata = value._tracking_metadata if isinstance(value, Trackable) else ""


def _describe_variable(proto: Any, variable: Any) -> None:
    proto.dtype, proto.trainable = variable.dtype.base_dtype.as_datatype_enum, bool(variable.trainable)
    proto.shape.CopyFrom(variable.shape.as_proto())
    proto.synchronization, proto.aggregation = variable.synchronization.value, variable.aggregation.value
    proto.name = node_name(variable)


class _Behind(SaveableObject):
    """The variable behind a handle of the exported graph."""

    def __init__(self, handle: Tensor, value: Tensor, key: str):
        super().__init__(value.op, [SaveSpec(value, "", key)], key)
        self._handle = handle

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        return assign_variable_op(self._handle, restored_tensors[0])


def _kind(value: Any) -> str:
    if value is _SERVING:
        return "signature_map"
    if isinstance(value, list):
        return "trackable_list_wrapper"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    return "trackable_dict_wrapper" if isinstance(value, dict) else str(value._object_identifier)


def _output_specs(function: ConcreteFunction) -> Any:
    """NotImplementedError for what is made of several tensors."""
    for leaf in flatten(function.structured_outputs):
        if isinstance(leaf, Composite):
            raise NotImplementedError(f"A SavedModel has no form for a {type(leaf).__name__} that {function.name} returns")
    return function.output_specs


def _value_of(tensor: Tensor) -> Any:
    """The value of a tensor around the functions: its own in eager execution, in graphs that of the session."""
    return tensor.numpy() if isinstance(tensor, EagerTensor) else default_or_fallback_session().run(tensor)
