"""`tf.summary`: summary ops and the writer of event files."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event as Event
    from tensorboard.compat.proto.event_pb2 import SessionLog as SessionLog
    from tensorboard.compat.proto.event_pb2 import TaggedRunMetadata as TaggedRunMetadata
    from tensorboard.compat.proto.summary_pb2 import Summary as Summary
    from tensorboard.compat.proto.summary_pb2 import SummaryDescription as SummaryDescription

    from tfexp.contributed.summary_writing import all_summary_ops as all_v2_summary_ops
    from tfexp.contributed.summary_writing import initialize as initialize
    from tfexp.ops.summary import histogram as histogram
    from tfexp.ops.summary import merge as merge
    from tfexp.ops.summary import merge_all as merge_all
    from tfexp.ops.summary import scalar as scalar
    from tfexp.ops.summary import tensor_summary as tensor_summary
    from tfexp.ops.summary import text as text
    from tfexp.ops.summary_description import get_summary_description as get_summary_description
    from tfexp.ops.summary_media import audio as audio
    from tfexp.ops.summary_media import image as image
    from tfexp.train.summary_writer import FileWriter as FileWriter
    from tfexp.train.summary_writer import FileWriterCache as FileWriterCache

__getattr__, __dir__ = namespace("tf.summary", __name__)
