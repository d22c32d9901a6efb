"""`tf.ReaderBase` and its kinds: what programs hold of a reader. Source: `tf.ReaderBase`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.formats.tfrecord import TFRecordOptions
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.handle_ops import Twins
from tfexp.ops.queue import QueueBase
from tfexp.ops.reader_ops import (
    fake_queue,
    fixed_length_record_reader,
    identity_reader,
    lmdb_reader,
    reader_num_records_produced,
    reader_num_work_units_completed,
    reader_read,
    reader_read_up_to,
    reader_reset,
    reader_restore_state,
    reader_serialize_state,
    text_line_reader,
    tf_record_reader,
    whole_file_reader,
)


class ReaderBase:
    """Turns work, as a rule the names of files, which it takes from a queue, into records: pairs of strings.

    It keeps its place between steps. When the queue is closed and the work done, reading ends with OutOfRangeError.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        if executing_eagerly():
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into "
                "your model."
            )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The reader's handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` and `restore_state` work."""
        return self._supports_serialize

    def read(self, queue: QueueBase | Tensor, name: str | None = None) -> Any:
        """The next record's (key, value), two scalar strings."""
        return self._on(reader_read, self._fitting(queue), name=name)

    def read_up_to(self, queue: QueueBase | Tensor, num_records: Any, name: str | None = None) -> Any:
        """Up to `num_records` (keys, values), two vectors of strings; fewer at the end of a file."""
        return self._on(reader_read_up_to, self._fitting(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records have been read, an int64."""
        count: Tensor = self._on(reader_num_records_produced, name=name)
        return count

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files have been read to their end, an int64."""
        count: Tensor = self._on(reader_num_work_units_completed, name=name)
        return count

    def serialize_state(self, name: str | None = None) -> Tensor:
        """The reader's state as a string; UnimplementedError where it cannot be told."""
        state: Tensor = self._on(reader_serialize_state, name=name)
        return state

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """A node that makes the reader go on from a state of `serialize_state`."""
        node: Operation = self._on(reader_restore_state, state, name=name)
        return node

    def reset(self, name: str | None = None) -> Operation:
        """A node after which the reader is as it was at first."""
        node: Operation = self._on(reader_reset, name=name)
        return node

    def _on(self, op: Twins, *args: Any, **kwargs: Any) -> Any:
        """A node of the form that fits the handle."""
        form = op.newer if self._reader_ref.dtype == dtypes.resource else op.older
        return form(self._reader_ref, *args, **kwargs)

    def _fitting(self, queue: QueueBase | Tensor) -> Tensor:
        """The queue's handle, of the reader's handle's type."""
        ref: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        if ref.dtype == dtypes.resource and self._reader_ref.dtype != dtypes.resource:
            ref = fake_queue(ref)
        return ref


class WholeFileReader(ReaderBase):
    """A record is a file: (name, content). `tf.WholeFileReader`."""

    def __init__(self, name: str | None = None):
        super().__init__(whole_file_reader(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """A record is a line: (`file:number`, text). The first `skip_header_lines` of each file are left out."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(text_line_reader(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """A record is `record_bytes` bytes: (`file:number`, bytes), one every `hop_bytes` (0: end to end) of a file's body.

    `encoding`: how files are compressed (`"ZLIB"`, `"GZIP"`).
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ):
        ref = fixed_length_record_reader(
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(ref)


class TFRecordReader(ReaderBase):
    """A record is one of a TFRecord file: (`file:offset`, bytes). `options`: how files are compressed."""

    def __init__(self, name: str | None = None, options: Any = None):
        kind = TFRecordOptions.get_compression_type_string(options)
        super().__init__(tf_record_reader(compression_type=kind, name=name))


class IdentityReader(ReaderBase):
    """A record is the work itself: (name, name). `tf.IdentityReader`."""

    def __init__(self, name: str | None = None):
        super().__init__(identity_reader(name=name), supports_serialize=True)


class LMDBReader(ReaderBase):
    """A record is a pair of an LMDB file: (key, value). `options` say nothing here. `tf.LMDBReader`."""

    def __init__(self, name: str | None = None, options: Any = None):
        super().__init__(lmdb_reader(name=name))
