"""TensorFlow's reader_base.proto: how far a reader has come."""

from __future__ import annotations

from tfexp.formats.protos.schema import define

_MESSAGES = define(
    "reader_base",
    """
    message ReaderBaseState
      work_started 1 int64
      work_finished 2 int64
      num_records_produced 3 int64
      current_work 4 bytes
    """,
)

ReaderBaseState = _MESSAGES["ReaderBaseState"]
