"""Writers of event files that belong to a session, and the ops that write summaries with them. Source: TF 1.15.

A writer is a resource: `SummaryWriter` gives its handle, `CreateSummaryFileWriter` opens its file (once: a writer that is
open stays as it is), `CloseSummaryWriter` closes it, after which it may be opened anew.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2

from tfexp.core.dtypes import DType
from tfexp.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfexp.core.op import Op, define_op, get_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.formats.event import EventFileWriter
from tfexp.formats.tensor import make_tensor_proto

_REAL = "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"
_STEP = "writer: resource, step: int64"


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


def _write(writer: Writer, step: Any, **content: Any) -> None:
    writer.write(event_pb2.Event(wall_time=time.time(), step=int(step), **content))


def _write_as(op_type: str, ctx: Any, writer: Writer, step: Any, *inputs: Any, **attrs: Any) -> None:
    """Write what the op that makes such a summary makes of the inputs."""
    made = get_op(op_type).kernels["CPU"].compute(ctx, *inputs, **attrs)
    _write(writer, step, summary=summary_pb2.Summary.FromString(made.item()))


write_scalar_summary_op = define_op(
    f"WriteScalarSummary({_STEP}, tag: string, value: T) -> () {{T: type in [{_REAL}]}} #stateful"
)


@write_scalar_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tag: Any, value: Any) -> None:
    if np.ndim(value):
        raise InvalidArgumentError(None, None, f"a scalar summary needs a scalar, but its shape is {list(np.shape(value))}")
    summary = summary_pb2.Summary()
    summary.value.add(tag=_text(tag), simple_value=float(value))
    _write(writer, step, summary=summary)


write_histogram_summary_op = define_op(
    f"WriteHistogramSummary({_STEP}, tag: string, values: T) -> () {{T: type in [{_REAL},bool] = float}} #stateful"
)


@write_histogram_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tag: Any, values: Any) -> None:
    _write_as("HistogramSummary", ctx, writer, step, tag, values)


write_image_summary_op = define_op(
    f"WriteImageSummary({_STEP}, tag: string, tensor: T, bad_color: uint8) -> () "
    "{max_images: int >= 1 = 3; T: type in [uint8,double,float,half] = float} #stateful"
)


@write_image_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int) -> None:
    color = make_tensor_proto(np.asarray(bad_color, np.uint8))
    _write_as("ImageSummary", ctx, writer, step, tag, tensor, max_images=max_images, bad_color=color)


write_audio_summary_op = define_op(
    f"WriteAudioSummary({_STEP}, tag: string, tensor: float, sample_rate: float) -> () "
    "{max_outputs: int >= 1 = 3} #stateful"
)


@write_audio_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> None:
    _write_as("AudioSummaryV2", ctx, writer, step, tag, tensor, sample_rate, max_outputs=max_outputs)


write_summary_op = define_op(
    f"WriteSummary({_STEP}, tensor: T, tag: string, summary_metadata: string) -> () {{T: type}} #stateful"
)


@write_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tensor: Any, tag: Any, summary_metadata: Any, *, T: DType) -> None:
    _write_as("TensorSummaryV2", ctx, writer, step, tag, tensor, summary_metadata, T=T)


write_raw_proto_summary_op = define_op(f"WriteRawProtoSummary({_STEP}, tensor: string) -> () #stateful")


@write_raw_proto_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tensor: Any) -> None:
    summary = summary_pb2.Summary()
    for index, serialized in enumerate(np.asarray(tensor, object).ravel()):
        summary.MergeFrom(_parsed(summary_pb2.Summary, serialized, "tf.compat.v1.Summary", f" at index {index}"))
    _write(writer, step, summary=summary)


write_graph_summary_op = define_op(f"WriteGraphSummary({_STEP}, tensor: string) -> () #stateful")


@write_graph_summary_op.kernel("CPU")
def _(ctx: Any, writer: Writer, step: Any, tensor: Any) -> None:
    serialized = np.asarray(tensor, object).item()
    _parsed(graph_pb2.GraphDef, serialized, "tf.GraphDef")
    _write(writer, step, graph_def=serialized)


import_event_op = define_op("ImportEvent(writer: resource, event: string) -> () #stateful")


@import_event_op.kernel("CPU")
def _(ctx: Any, writer: Writer, event: Any) -> None:
    writer.write(_parsed(event_pb2.Event, np.asarray(event, object).item(), "tf.Event"))


def _parsed(proto: Any, serialized: bytes, name: str, where: str = "") -> Any:
    try:
        return proto.FromString(serialized)
    except DecodeError:
        raise DataLossError(None, None, f"Bad {name} binary proto tensor string{where}") from None


def _nothing(*_: InputShape) -> None:
    return None


_WRITING: tuple[Op, ...] = (
    create_summary_file_writer_op,
    flush_summary_writer_op,
    close_summary_writer_op,
    write_scalar_summary_op,
    write_histogram_summary_op,
    write_image_summary_op,
    write_audio_summary_op,
    write_summary_op,
    write_raw_proto_summary_op,
    write_graph_summary_op,
    import_event_op,
)
for _op in _WRITING:
    _op.shape(_nothing)
