"""`tf.summary`: summary ops and the writer of event files."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tensorboard.compat.proto.event_pb2": "Event SessionLog TaggedRunMetadata",
        "tensorboard.compat.proto.summary_pb2": "Summary SummaryDescription",
        "tfexp.ops.summary": "histogram merge merge_all scalar tensor_summary text",
        "tfexp.ops.summary_description": "get_summary_description",
        "tfexp.ops.summary_media": "audio image",
        "tfexp.train.summary_writer": "FileWriter FileWriterCache",
    },
)
