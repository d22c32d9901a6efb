"""`tf.contrib.checkpoint`: objects whose parts checkpoints find."""

from tfexp.core.gone import missing_from
from tfexp.keras.engine.trackable_structures import List as List
from tfexp.keras.engine.trackable_structures import Mapping as Mapping
from tfexp.ops.trackable import NoDependency as NoDependency
from tfexp.ops.trackable import Trackable as Checkpointable
from tfexp.ops.trackable import Trackable as CheckpointableBase
from tfexp.train.checkpoint_manager import CheckpointManager as CheckpointManager
from tfexp.train.python_state import PythonState as PythonStateWrapper

__getattr__ = missing_from("tf.contrib.checkpoint")
