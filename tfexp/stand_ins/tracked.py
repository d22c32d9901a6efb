"""`tensorflow.python.training.tracking`: objects and their parts, as tests and libraries ask for them. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.core import dtypes
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.saveable_object import SaveableObject
from tfexp.ops.trackable import TrackableReference, parts_of
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_scope import get_variable
from tfexp.stand_ins.functional_savers import saveable_objects_for_op
from tfexp.train.checkpoint import WrittenText
from tfexp.train.object_graph import OBJECT_GRAPH_KEY as OBJECT_GRAPH_PROTO_KEY
from tfexp.train.object_graph import list_objects, object_graph, object_metadata, saveables
from tfexp.train.root_checkpoint import RootCheckpoint

__all__ = ["OBJECT_GRAPH_PROTO_KEY", "TrackableReference", "object_metadata"]

VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"


# --- `util` and `graph_view` ------------------------------------------------------------------------------------------


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of the variables that are reached from an object."""
    variables: list[Any] = [one for one in list_objects(root_trackable) if isinstance(one, Variable)]
    return [variable.initializer for variable in variables]


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """A new variable, which is a part of `trackable` under its name. ValueError for a name that is taken."""
    if getattr(trackable, name, None) is not None:
        raise ValueError(f"A variable named {name!r} already exists in this Trackable.")
    variable = get_variable(name, shape, dtype, initializer, trainable=trainable, use_resource=True)
    setattr(trackable, name, variable)
    return variable


class ObjectGraphView:
    """An object and what is reached from it."""

    def __init__(self, root: Any, saveables_cache: Any = None):
        self.root = root

    def list_objects(self) -> list[Any]:
        return list_objects(self.root)

    def list_dependencies(self, obj: Any) -> list[TrackableReference]:
        """The parts of an object, by their names."""
        return [TrackableReference(name, part) for name, part in parts_of(obj)]

    def frozen_saveable_objects(self, object_map: Any = None, to_graph: Any = None) -> list[SaveableObject]:
        """What saves the values of the objects, and the objects as a message, in `to_graph`.

        object_map: what is saved there in the place of which objects.
        """
        graph, others = object_graph(self.root), {} if object_map is None else object_map
        with contextlib.nullcontext() if to_graph is None else to_graph.as_default():
            text = WrittenText(graph.proto.SerializeToString(deterministic=True), OBJECT_GRAPH_PROTO_KEY)
            values = {key: others.get(value, value) for key, value in graph.values.items()}
            return [*_savers_of(values), text]

    def serialize_object_graph(self) -> tuple[list[SaveableObject], TrackableObjectGraph, dict[Any, Any]]:
        """(what saves the values of the objects, the objects as a message, what has to be fed)."""
        graph = object_graph(self.root)
        return _savers_of(graph.values), graph.proto, {}


def _savers_of(values: dict[str, Any]) -> list[SaveableObject]:
    return [one for key, value in saveables(values).items() for one in saveable_objects_for_op(value, key)]


class TrackableSaver:
    """Saves and restores the values of the objects that an `ObjectGraphView` begins at."""

    def __init__(self, graph_view: ObjectGraphView):
        self._graph_view = graph_view

    def save(self, file_prefix: Any, checkpoint_number: Any = None, session: Any = None) -> str:
        """Write the checkpoint `file_prefix`, with a number behind it if there is one; its path."""
        path = file_prefix if checkpoint_number is None else f"{file_prefix}-{int(checkpoint_number)}"
        return RootCheckpoint.of(self._graph_view.root).write(path, session)

    def restore(self, save_path: str | None) -> Any:
        """See `tf.train.Checkpoint.restore`."""
        return RootCheckpoint.of(self._graph_view.root).restore(save_path)


# --- `layer_utils` ----------------------------------------------------------------------------------------------------


def is_layer(obj: Any) -> bool:
    return isinstance(obj, Layer)


def has_weights(obj: Any) -> bool:
    """Whether it has the lists of weights that layers have."""
    return hasattr(type(obj), "trainable_weights") and hasattr(type(obj), "non_trainable_weights")


def filter_empty_layer_containers(layer_list: Sequence[Any]) -> list[Any]:
    """The layers, and what has layers in it; each once."""
    kept = [one for one in layer_list if is_layer(one) or getattr(one, "layers", None)]
    return list({id(one): one for one in kept}.values())


def gather_trainable_weights(trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]) -> list[Any]:
    """The trainable weights of an object of these layers and variables; none if it is not `trainable`."""
    if not trainable:
        return []
    own = [variable for variable in extra_variables if variable.trainable]
    return [*(weight for layer in sub_layers for weight in layer.trainable_weights), *own]


def gather_non_trainable_weights(trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]) -> list[Any]:
    """The other weights of such an object; all of them, the trainable ones first, if it is not `trainable`."""
    own = [variable for variable in extra_variables if not variable.trainable]
    weights = [*(weight for layer in sub_layers for weight in layer.non_trainable_weights), *own]
    return weights if trainable else [*gather_trainable_weights(True, sub_layers, extra_variables), *weights]
