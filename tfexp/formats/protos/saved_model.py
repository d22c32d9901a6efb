"""The content of a SavedModel's `saved_model.pb`. Source: saved_model.proto."""

from __future__ import annotations

from tensorboard.compat.proto import meta_graph_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "saved_model",
    """
    message SavedModel
      saved_model_schema_version 1 int64
      meta_graphs 2 repeated MetaGraphDef
    """,
    imports=(meta_graph_pb2,),
)
SavedModel = _types["SavedModel"]
