"""`tf.contrib.checkpoint`: objects whose parts checkpoints find."""

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph as CheckpointableObjectGraph

from tfexp.contributed.checkpoint_graphs import UniqueNameTracker as UniqueNameTracker
from tfexp.contributed.checkpoint_graphs import dot_graph_from_checkpoint as dot_graph_from_checkpoint
from tfexp.core.gone import missing_from
from tfexp.keras.engine.trackable_structures import List as List
from tfexp.keras.engine.trackable_structures import Mapping as Mapping
from tfexp.ops.trackable import NoDependency as NoDependency
from tfexp.ops.trackable import Trackable as Checkpointable
from tfexp.ops.trackable import Trackable as CheckpointableBase
from tfexp.train.checkpoint_manager import CheckpointManager as CheckpointManager
from tfexp.train.object_graph import list_objects as list_objects
from tfexp.train.object_graph import object_metadata as object_metadata
from tfexp.train.python_state import PythonState as PythonStateWrapper

__getattr__ = missing_from("tf.contrib.checkpoint")
