"""TensorFlow's queue_runner.proto: which nodes fill a queue, and how it is closed."""

from __future__ import annotations

from tfexp.formats.protos.schema import define

# `Code` is tensorflow.error.Code: the classes of exceptions that end a queue's thread.
_MESSAGES = define(
    "queue_runner",
    """
    enum Code
      OK 0
      CANCELLED 1
      UNKNOWN 2
      INVALID_ARGUMENT 3
      DEADLINE_EXCEEDED 4
      NOT_FOUND 5
      ALREADY_EXISTS 6
      PERMISSION_DENIED 7
      RESOURCE_EXHAUSTED 8
      FAILED_PRECONDITION 9
      ABORTED 10
      OUT_OF_RANGE 11
      UNIMPLEMENTED 12
      INTERNAL 13
      UNAVAILABLE 14
      DATA_LOSS 15
      UNAUTHENTICATED 16
    message QueueRunnerDef
      queue_name 1 string
      enqueue_op_name 2 repeated string
      close_op_name 3 string
      cancel_op_name 4 string
      queue_closed_exception_types 5 repeated Code
    """,
)

QueueRunnerDef = _MESSAGES["QueueRunnerDef"]
