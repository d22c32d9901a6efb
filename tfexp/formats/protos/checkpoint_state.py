"""The content of a folder's `checkpoint` file. Source: `tf.train.CheckpointState`."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "checkpoint_state",
    """
    message CheckpointState
      model_checkpoint_path 1 string
      all_model_checkpoint_paths 2 repeated string
      all_model_checkpoint_timestamps 3 repeated double
      last_preserved_timestamp 4 double
    """,
)
CheckpointState = _types["CheckpointState"]
