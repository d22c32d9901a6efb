"""SavedModels that sessions wrote, as objects: `load_v2` of what has graphs and values, and no objects. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto import graph_pb2, variable_pb2

from tfexp.core import nest
from tfexp.core.dtypes import resource
from tfexp.functions.wrapped import WrappedFunction, wrap_function
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant
from tfexp.graph.graph import Graph
from tfexp.graph.graphdef import import_graph_def, without_later_attrs
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import add_to_collection, control_dependencies, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.array_identity import identity
from tfexp.ops.save import restore_v2
from tfexp.ops.save_slice import SaveSliceInfo
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_base import Variable
from tfexp.train import saved_model_names as names
from tfexp.train.saved_model_loader import SavedModelLoader, get_asset_tensors


class UnliftableError(Exception):
    """What is wanted of a graph needs a placeholder that stays behind. Source: TF 1.15, `eager.lift_to_graph`."""


class SessionModel(Trackable):
    """The graph that a session's SavedModel has, with variables and tables outside of it.

    `signatures`: the functions that serve it, each to be called with keyword arguments. `variables`: all that the collection
    of global variables had. `graph`: the whole graph, of which `prune` makes further functions. In graphs, variables and
    tables want to be initialized. UnliftableError where the outputs of a signature need placeholders that are no inputs.
    """

    def __init__(self, loader: SavedModelLoader, meta_graph: Any):
        info = meta_graph.meta_info_def
        self.tensorflow_version, self.tensorflow_git_version = info.tensorflow_version, info.tensorflow_git_version
        self.graph = Graph()
        with self.graph.as_default():
            import_graph_def(without_later_attrs(meta_graph.graph_def, info.stripped_op_list), name="")
        written = meta_graph.collection_def[GraphKeys.GLOBAL_VARIABLES].bytes_list.value
        protos = [variable_pb2.VariableDef.FromString(data) for data in written]
        self.variables = [self._variable(proto, loader.variables_path) for proto in protos]
        inside = [self.graph.get_operation_by_name(proto.variable_name.partition(":")[0]) for proto in protos]
        self._outside: dict[Operation, Any] = dict(zip(inside, self.variables, strict=True))
        """The variables and the handles of tables, by the nodes of `graph` that were them."""
        for op in [op for op in self.graph.get_operations() if _is_table(op)]:
            self._outside[op] = get_default_graph().add_node(op.type, [], dict(op.attrs), op.name).outputs[0]
        self._fill_tables(meta_graph, get_asset_tensors(loader.export_dir, meta_graph))
        self.signatures = {
            key: self._signature(key, signature)
            for key, signature in meta_graph.signature_def.items()
            if key not in (names.INIT_OP_SIGNATURE_KEY, names.TRAIN_OP_SIGNATURE_KEY)
        }

    def prune(self, feeds: Any, fetches: Any) -> WrappedFunction:
        """The function of some tensors of `graph` that gives others: (structures of) tensors or their names.

        NotImplementedError where the result needs what has a state, and is neither a global variable nor a table.
        """
        given = [self._element(feed) for feed in nest.flatten(feeds)]
        return self._function(given, [tensor.op.name for tensor in given], nest.map_structure(self._element, fetches))

    # --- variables -----------------------------------------------------------------------------------------------------

    def _variable(self, proto: variable_pb2.VariableDef, checkpoint: str) -> Variable:
        inside = self.graph.as_graph_element(proto.snapshot_name)
        part = (
            SaveSliceInfo(save_slice_info_def=proto.save_slice_info_def) if proto.HasField("save_slice_info_def") else None
        )
        name = proto.variable_name.partition(":")[0]

        def read() -> Tensor:
            key, piece = (name, "") if part is None else (part.full_name, part.spec)
            (value,) = restore_v2(checkpoint, [key], [piece], dtypes=[inside.dtype.base_dtype])
            value.set_shape(inside.shape)
            return value

        return Variable(initial_value=read, trainable=proto.trainable, name=name, use_resource=True)

    def _fill_tables(self, meta_graph: Any, assets: Mapping[str, bytes]) -> None:
        """In eager execution at once, in graphs by the collection of the tables' initializers."""
        fill = [self._element(name) for name in meta_graph.collection_def[GraphKeys.TABLE_INITIALIZERS].node_list.value]
        paths = [self._element(name) for name in assets]

        def filled() -> Tensor:
            with control_dependencies(self._imported(fill, dict(zip(paths, map(constant, assets.values()), strict=True)))):
                return identity(True)

        if fill:
            done = wrap_function(filled, [])()
            if not executing_eagerly():
                add_to_collection(GraphKeys.TABLE_INITIALIZERS, done.op)

    # --- functions -----------------------------------------------------------------------------------------------------

    def _element(self, one: Any) -> Any:
        return self.graph.as_graph_element(one)

    def _signature(self, name: str, signature: Any) -> WrappedFunction:
        keys = sorted(signature.inputs)
        given = [self._element(signature.inputs[key].name) for key in keys]
        fetches = {key: self._element(info.name) for key, info in signature.outputs.items()}
        for fetch in fetches.values():
            path = _path_to_placeholder(fetch.op, {tensor.op for tensor in given})
            if path:
                raise UnliftableError(
                    "A SavedModel signature needs an input for each placeholder the signature's outputs use. An output for "
                    f"signature '{name}' depends on a placeholder which is not an input (i.e. the placeholder is not fed a "
                    f"value).\n\nUnable to lift tensor {fetch!r} because it depends transitively on placeholder "
                    f"{path[-1]!r} via at least one path, e.g.: {' <- '.join(f'{op.name} ({op.type})' for op in path)}"
                )
        return self._function(given, keys, fetches)

    def _function(self, given: Sequence[Tensor], argument_names: Sequence[str], fetches: Any) -> WrappedFunction:
        def served(*arguments: Tensor) -> Any:
            known = dict(zip(given, arguments, strict=True))
            return nest.pack_sequence_as(fetches, self._imported(nest.flatten(fetches), known))

        specs = [TensorSpec(tensor.shape, tensor.dtype, name) for tensor, name in zip(given, argument_names, strict=True)]
        return wrap_function(served, specs)

    def _imported(self, wanted: Sequence[Any], given: Mapping[Tensor, Tensor]) -> list[Any]:
        """What these tensors and operations of `graph` are in the default graph, by what the given ones are there."""
        needed = _needed_by(wanted, {tensor.op for tensor in given} | set(self._outside))
        inputs = {tensor for op in needed for tensor in op.inputs}
        taken = inputs | set(wanted)
        known: dict[Any, Any] = {tensor: one for tensor, one in given.items() if tensor in taken}
        for op, outside in self._outside.items():
            if op.outputs[0] in taken:
                known[op.outputs[0]] = _inner(op, outside)
        new = [one for one in wanted if one not in known]
        mapped = {tensor.name: copy for tensor, copy in known.items() if tensor in inputs}
        copies = import_graph_def(self._part(needed), mapped, [one.name for one in new], name="") or []
        for one, copy in zip(new, copies, strict=True):
            if isinstance(one, Tensor):
                copy.set_shape(one.shape)  # which may be known from elsewhere than its inputs
        known |= zip(new, copies, strict=True)
        return [known[one] for one in wanted]

    def _part(self, needed: set[Operation]) -> graph_pb2.GraphDef:
        whole, kept = self.graph.as_graph_def(), {op.name for op in needed}
        part = graph_pb2.GraphDef(versions=whole.versions, library=whole.library)
        for node in whole.node:
            if node.name in kept:
                copy = part.node.add()
                copy.CopyFrom(node)
                copy.attr.pop("_class", None)  # colocation, maybe with variables that are not here
                copy.input[:] = [name for name in node.input if not name.startswith("^") or name[1:] in kept]
        return part


def _path_to_placeholder(op: Operation, fed: set[Operation]) -> list[Operation]:
    """The operations from `op` to a placeholder that it needs, and nobody feeds; none where there is no such one."""
    came_from: dict[Operation, Operation | None] = {op: None}
    pending = [op]
    for one in pending:
        if one in fed:
            continue
        if one.type == "Placeholder":
            path = [one]
            while (before := came_from[path[-1]]) is not None:
                path.append(before)
            return path[::-1]
        new = [tensor.op for tensor in one.inputs if tensor.op not in came_from]
        came_from |= dict.fromkeys(new, one)
        pending += dict.fromkeys(new)
    return []


def _needed_by(wanted: Sequence[Any], stops: set[Operation]) -> set[Operation]:
    """The operations that these tensors and operations need, without those where it stops."""
    needed, pending = set[Operation](), [one if isinstance(one, Operation) else one.op for one in wanted]
    while pending:
        op = pending.pop()
        if op in needed or op in stops:
            continue
        if any(tensor.dtype is resource or tensor.dtype._is_ref_dtype for tensor in op.outputs):
            raise NotImplementedError(
                f"{op.name!r} ({op.type}) has a state, and is neither a global variable nor a table: "
                "tf.saved_model.loader.load reads the graph into a session."
            )
        needed.add(op)
        pending += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return needed


def _is_table(op: Operation) -> bool:
    """Whether it is a resource of its own: no variable, which the collections have."""
    return not op.inputs and op.type != "VarHandleOp" and [tensor.dtype for tensor in op.outputs] == [resource]


def _inner(op: Operation, outside: Any) -> Any:
    """What stands in a function for a node of the graph: a handle for a handle, a value for a reference."""
    if not isinstance(outside, Variable):
        return outside
    variable: Any = outside  # behind a handle, as it was made
    return variable.handle if op.outputs[0].dtype is resource else variable.read_value()


def load_of_session(export_dir: Any, tags: Any) -> SessionModel:
    """ValueError without tags where there is more than one graph, RuntimeError where none has exactly these."""
    loader = SavedModelLoader(export_dir)
    graphs = loader.saved_model.meta_graphs
    if tags is None:
        if len(graphs) != 1:
            raise ValueError(
                "tf.saved_model.load requires tags if there is more than one MetaGraph: there are those of "
                f"{[sorted(one.meta_info_def.tags) for one in graphs]} in {export_dir}"
            )
        return SessionModel(loader, graphs[0])
    return SessionModel(loader, loader.get_meta_graph_def_from_tags([tags] if isinstance(tags, str) else tags))
