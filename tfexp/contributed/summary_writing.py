"""`tf.contrib.summary`: summaries that a run writes itself, with writers of its own. Source: TF 1.15.

In graphs, `with writer.as_default(), always_record_summaries():` around the functions makes ops that write, which
`all_summary_ops()` gives; `initialize` opens the writers. Where ops run at once, everything happens at once.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.contributed.smart_cond import smart_cond
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.defaults import get_default_session
from tfexp.graph.dependencies import no_op
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import (
    add_to_collection,
    control_dependencies,
    device,
    executing_eagerly,
    get_collection,
    get_default_graph,
    name_scope,
)
from tfexp.ops import summary_writing as ops
from tfexp.ops.array_identity import identity, placeholder
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.summary import summary_scope
from tfexp.train.global_step import get_or_create_global_step

_OPS, _INITIALIZERS = GraphKeys._SUMMARY_COLLECTION, "_SUMMARY_WRITER_V2"


class _Current(threading.local):
    """Of each thread: the writer, whether (a bool, a tensor, or a function that gives one; None: it was not said) summaries
    are recorded, and the step of those that are given none, which version 2 alone looks at."""

    writer: Any = None
    recording: Any = None
    step: Any = None


current = _Current()


class SummaryWriter:
    """A writer; one without a folder does nothing. Source: `tf.contrib.summary.create_file_writer`.

    One that `closes_for_good` is, where ops run at once, of no use after `close`: RuntimeError.
    """

    def __init__(self, handle: Any, make_opener: Callable[[Any], Any] | None, closes_for_good: bool = False):
        self._handle = handle
        self._opener: Any = None
        self._closes_for_good = closes_for_good
        self._closed = False
        if make_opener is not None:
            self._opener = make_opener(handle)
            if not executing_eagerly():
                add_to_collection(_INITIALIZERS, self._opener)

    def init(self) -> Any:
        """The op that opens it."""
        self._check_open()
        return self._opener if self._opener is not None else no_op()

    def set_as_default(self) -> None:
        """Write with it from now on, in this thread; one without a folder leaves the default writer as it is."""
        self._check_open()
        if self._handle is not None:
            current.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Write with it within the block, at whose end what waits is written: at once, or by a function that is traced."""
        self._check_open()
        before = current.writer
        if self._handle is not None:
            current.writer = self
        try:
            yield self
            if executing_eagerly() or get_default_graph().is_traced:
                self.flush()
        finally:
            current.writer = before

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")

    def flush(self) -> Any:
        """The op that writes what waits to the file."""
        return no_op() if self._closed else flush(self)

    def close(self) -> Any:
        """The op that closes it, once what waits is written."""
        if self._handle is None or self._closed:
            return no_op()
        self._closed = self._closes_for_good and executing_eagerly()
        with control_dependencies([flush(self)] if not executing_eagerly() else []):
            return ops.close_summary_writer_op(self._handle)


def create_file_writer(
    logdir: str | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of event files in `logdir`; those of one name (by default of one folder) are one. None: writes nothing.

    max_queue (10), flush_millis (two minutes): when what waits is written. filename_suffix: ".v2".
    """
    if logdir is None:
        return SummaryWriter(None, None)
    with device("cpu:0"):
        shared = name if name is not None else f"logdir:{os.fspath(logdir)}"
        handle = ops.summary_writer_op(shared_name=shared)
        options = (
            constant(os.fspath(logdir), dtypes.string),
            constant(10 if max_queue is None else max_queue),
            constant(2 * 60 * 1000 if flush_millis is None else flush_millis),
            constant(".v2" if filename_suffix is None else filename_suffix),
        )
        return SummaryWriter(handle, lambda handle: ops.create_summary_file_writer_op(handle, *options))


create_summary_file_writer = create_file_writer


def summary_writer_initializer_op() -> list[Any]:
    """The ops that open the graph's writers. RuntimeError where ops run at once: there they are open."""
    if executing_eagerly():
        raise RuntimeError("tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode.")
    return get_collection(_INITIALIZERS)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Open the writers, in `session` (the default one if None), and write a graph with the one that is the default.

    RuntimeError without a default writer, ValueError without a session.
    """
    if executing_eagerly():
        return
    if current.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        serialized = (graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph).SerializeToString()
        fed = placeholder(dtypes.string)
        session.run(_graph_written(fed, 0), feed_dict={fed: serialized})


# --- whether ------------------------------------------------------------------------------------------------------------


def should_record_summaries() -> Any:
    """Whether summaries are recorded here: a bool, or a tensor."""
    return recorded_here(False)


def recorded_here(otherwise: bool) -> Any:
    """Whether summaries are recorded: a bool, or a tensor; `otherwise` where nothing was said."""
    condition = current.recording() if callable(current.recording) else current.recording
    return otherwise if condition is None else condition


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Within the block: record summaries where `condition` (a bool, a bool tensor or a function that gives one) says so."""
    before, current.recording = current.recording, condition
    try:
        yield
    finally:
        current.recording = before


def always_record_summaries() -> Any:
    """Within the block: record summaries."""
    return record_if(True)


def never_record_summaries() -> Any:
    """Within the block: record none, as is the default."""
    return record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """Within the block: record summaries at each nth step alone."""
    step = get_or_create_global_step() if global_step is None else global_step

    def is_nth() -> Any:
        with device("cpu:0"):
            return equal(floormod(step.read_value() if hasattr(step, "read_value") else step, n), 0)

    return record_if(is_nth if executing_eagerly() else is_nth())


# --- what ---------------------------------------------------------------------------------------------------------------


def _recorded(name: str, tensor: Any, write: Callable[[Any, Any, str, str], Any], family: str | None, step: Any) -> Any:
    """`write(writer's handle, step, tag, scope)` where summaries are recorded; an op that does nothing without a writer."""
    writer = current.writer
    if writer is None or writer._handle is None:
        return no_op()
    surrounding = get_default_graph().get_name_scope()

    def record() -> Any:
        with (
            name_scope(f"{surrounding}/" if surrounding else None),
            summary_scope(name, family, values=[tensor]) as (tag, scope),
        ):
            written = write(writer._handle, _step_of(step), tag, scope)
            with control_dependencies([] if written is None else [written]):
                return constant(True)

    with device("cpu:0"):
        op = smart_cond(should_record_summaries(), record, lambda: constant(False), name="")
        if not executing_eagerly():
            add_to_collection(_OPS, op)
    return op


def _step_of(step: Any) -> Any:
    given = get_or_create_global_step() if step is None else step
    value = given.read_value() if hasattr(given, "read_value") else convert_to_tensor(given)
    return cast(identity(value), dtypes.int64)


def all_summary_ops() -> list[Any] | None:
    """The graph's ops that write summaries; None where ops run at once."""
    return None if executing_eagerly() else get_collection(_OPS)


def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> Any:
    """Write a tensor, with a SummaryMetadata (a proto, or serialized) that says what shows it."""

    def write(writer: Any, step: Any, tag: str, scope: str) -> Any:
        serialized = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata or b""
        described = constant(serialized, dtypes.string, name="summary_metadata")
        return ops.write_summary_op(writer, step, identity(tensor), tag, described, name=scope)

    return _recorded(name, tensor, write, family, step)


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write a number."""

    def write(writer: Any, step: Any, tag: str, scope: str) -> Any:
        return ops.write_scalar_summary_op(writer, step, tag, identity(tensor), name=scope)

    return _recorded(name, tensor, write, family, step)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write the distribution of a tensor's elements."""

    def write(writer: Any, step: Any, tag: str, scope: str) -> Any:
        return ops.write_histogram_summary_op(writer, step, tag, identity(tensor), name=scope)

    return _recorded(name, tensor, write, family, step)


def image(
    name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None, step: Any = None
) -> Any:
    """Write the first `max_images` images of [n, rows, columns, 1 | 3 | 4]; pixels that are not finite get `bad_color`."""

    def write(writer: Any, step: Any, tag: str, scope: str) -> Any:
        color = constant([255, 0, 0, 255] if bad_color is None else bad_color, dtypes.uint8)
        return ops.write_image_summary_op(writer, step, tag, identity(tensor), color, max_images=max_images, name=scope)

    return _recorded(name, tensor, write, family, step)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None, step: Any = None) -> Any:
    """Write the first `max_outputs` clips of [n, frames(, channels)] in [-1, 1]."""

    def write(writer: Any, step: Any, tag: str, scope: str) -> Any:
        rate = convert_to_tensor(sample_rate, dtypes.float32)
        return ops.write_audio_summary_op(writer, step, tag, identity(tensor), rate, max_outputs=max_outputs, name=scope)

    return _recorded(name, tensor, write, family, step)


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a graph: a `tf.Graph`, a GraphDef, or a string tensor of a serialized one. TypeError for anything else."""
    if isinstance(param, Graph):
        param = param.as_graph_def(add_shapes=True)
    if hasattr(param, "SerializeToString"):
        param = constant(param.SerializeToString(), dtypes.string)
    elif getattr(param, "dtype", None) is not dtypes.string:
        raise TypeError(f"a graph has to be a tf.Graph, a GraphDef or a string tensor of one, not {type(param).__name__}")
    return _graph_written(param, step, name)


def _graph_written(serialized: Any, step: Any, name: str | None = None) -> Any:
    writer = current.writer
    if writer is None or writer._handle is None:
        return no_op()
    with device("cpu:0"):
        return ops.write_graph_summary_op(writer._handle, _step_of(step), serialized, name=name)


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Write a serialized Event as it is."""
    if current.writer is None or current.writer._handle is None:
        return no_op()
    return ops.import_event_op(current.writer._handle, tensor, name=name)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Any:
    """The op that writes to the file what waits with a writer, the default one if None. ValueError for no writer."""
    chosen = current.writer if writer is None else writer
    if not isinstance(chosen, SummaryWriter | None):
        raise ValueError(f"Invalid argument to flush(): {writer!r}")
    if chosen is None or chosen._handle is None:
        return no_op()
    with device("cpu:0"):
        return ops.flush_summary_writer_op(chosen._handle, name=name)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder below a model's for the summaries of its evaluation."""
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")
