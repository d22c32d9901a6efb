"""Writers of event files that belong to a session, and the op that writes events with them. Source: TF 1.15.

A writer is a resource: `SummaryWriter` gives its handle, `CreateSummaryFileWriter` opens its file (once: a writer that is
open stays as it is), `CloseSummaryWriter` closes it, after which it may be opened anew.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import event_pb2

from tfexp.core.errors import DataLossError, NotFoundError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.formats.event import EventFileWriter


class Writer:
    """The writer of a session, by its name; closed at first."""

    def __init__(self, name: str):
        self._name = name
        self._lock = threading.Lock()
        self._events: EventFileWriter | None = None

    def open(self, logdir: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        """Events reach the file when more than `max_queue` of them wait."""
        with self._lock:
            if self._events is None:
                self._events = EventFileWriter(logdir, max_queue + 1, flush_secs, suffix)

    def write(self, event: Any) -> None:
        """NotFoundError while it is closed."""
        with self._lock:
            events = self._events
        if events is None:
            raise NotFoundError(
                None, None, f"the summary writer {self._name!r} is not open: run the initializer of summary writers first"
            )
        events.add_event(event)

    def flush(self) -> None:
        with self._lock:
            if self._events is not None:
                self._events.flush()

    def close(self) -> None:
        with self._lock:
            events, self._events = self._events, None
        if events is not None:
            events.close()


summary_writer_op = define_op(
    "SummaryWriter() -> (writer: resource) {shared_name: string = ''; container: string = ''} #stateful"
)


@summary_writer_op.shape
def _() -> TensorShape:
    return TensorShape([])


@summary_writer_op.kernel("CPU", handle=True)
def _(ctx: Any, *, shared_name: str, container: str) -> Writer:
    name = shared_name or ctx.node_name
    writer: Writer = ctx.resource(container, name, lambda: Writer(name), "summary_writer")
    return writer


def _text(value: Any) -> str:
    return bytes(np.asarray(value, object).item()).decode("utf-8", "replace")


create_summary_file_writer_op = define_op(
    "CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
    "filename_suffix: string) -> () #stateful"
)


@create_summary_file_writer_op.kernel("CPU")
def _(ctx: Any, writer: Writer, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any) -> None:
    writer.open(_text(logdir), int(max_queue), int(flush_millis) / 1000, _text(filename_suffix))


flush_summary_writer_op = define_op("FlushSummaryWriter(writer: resource) -> () #stateful")
close_summary_writer_op = define_op("CloseSummaryWriter(writer: resource) -> () #stateful")


@flush_summary_writer_op.kernel("CPU")
def _(ctx: Any, writer: Writer) -> None:
    writer.flush()


@close_summary_writer_op.kernel("CPU")
def _(ctx: Any, writer: Writer) -> None:
    writer.close()


# --- what is written ----------------------------------------------------------------------------------------------------


import_event_op = define_op("ImportEvent(writer: resource, event: string) -> () #stateful")


@import_event_op.kernel("CPU")
def _(ctx: Any, writer: Writer, event: Any) -> None:
    writer.write(_parsed(event_pb2.Event, np.asarray(event, object).item(), "tf.Event"))


def _parsed(proto: Any, serialized: bytes, name: str, where: str = "") -> Any:
    try:
        return proto.FromString(serialized)
    except DecodeError:
        raise DataLossError(None, None, f"Bad {name} binary proto tensor string{where}") from None
