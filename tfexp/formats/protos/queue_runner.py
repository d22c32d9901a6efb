"""TensorFlow's queue_runner.proto: which nodes fill a queue, and how it is closed."""

from __future__ import annotations

from tfexp.formats.protos.schema import define

# The exception types are tensorflow.error.Code, an enum, whose numbers are on the wire as any int32's.
_MESSAGES = define(
    "queue_runner",
    """
    message QueueRunnerDef
      queue_name 1 string
      enqueue_op_name 2 repeated string
      close_op_name 3 string
      cancel_op_name 4 string
      queue_closed_exception_types 5 repeated int32
    """,
)

QueueRunnerDef = _MESSAGES["QueueRunnerDef"]
