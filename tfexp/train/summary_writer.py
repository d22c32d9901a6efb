"""`tf.summary.FileWriter`: summaries, graphs and metadata of a run into an event file. Source: TF 1.15."""

from __future__ import annotations

import time
import warnings
from typing import Any

from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2

from tfexp.formats.event import EventFileWriter
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.train import meta_graph


class FileWriter:
    """Writes events into a new file in `logdir`; use it as a context manager or `close` it.

    `graph` is written first, and its MetaGraphDef; that of a GraphDef has the default graph's collections. Adding after
    `close` only warns, until `reopen`.
    """

    def __init__(
        self,
        logdir: str,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
    ):
        self._writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        self._seen_metadata: set[str] = set()
        self._session_run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            if isinstance(graph, Graph):
                definition, of = graph.as_graph_def(add_shapes=True), graph
            else:
                definition, of = (graph_def if graph is None else graph), None
            self.add_meta_graph(meta_graph.export_meta_graph(graph_def=definition, graph=of))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        return self._writer.get_logdir()

    def add_event(self, event: Any) -> None:
        """Append an Event proto. A closed writer takes nothing, and warns."""
        if self._closed:
            warnings.warn(
                f"Attempting to use a closed FileWriter (of {self.get_logdir()}). The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )
            return
        self._writer.add_event(event)

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Append a Summary: a proto, or the bytes that a summary op gives."""
        if isinstance(summary, bytes):
            summary = summary_pb2.Summary.FromString(summary)
        elif not isinstance(summary, summary_pb2.Summary):
            summary = summary_pb2.Summary.FromString(summary.SerializeToString())
        event = event_pb2.Event()
        event.summary.CopyFrom(summary)
        # A tag's metadata is the same every time: once is enough.
        for value in event.summary.value:
            if value.HasField("metadata"):
                if value.tag in self._seen_metadata:
                    value.ClearField("metadata")
                else:
                    self._seen_metadata.add(value.tag)
        self._add(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        event = event_pb2.Event()
        event.session_log.CopyFrom(session_log)
        self._add(event, global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Append a graph (a `tf.Graph`, or a GraphDef)."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, Graph):
            definition = graph.as_graph_def(add_shapes=True)
        elif isinstance(graph, graph_pb2.GraphDef) or isinstance(graph_def, graph_pb2.GraphDef):
            definition = graph_def if graph is None else graph
        else:
            raise TypeError(f"The passed graph must be an instance of `Graph` or the deprecated `GraphDef`, not {graph!r}")
        self._add(event_pb2.Event(graph_def=definition.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        if not hasattr(meta_graph_def, "meta_info_def"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(event_pb2.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Append a RunMetadata under `tag`, which must be new."""
        if tag in self._session_run_tags:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._session_run_tags.add(tag)
        event = event_pb2.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._add(event, global_step)

    def flush(self) -> None:
        """Write what waits to the file."""
        self._writer.flush()

    @property
    def closed(self) -> bool:
        """Whether it takes nothing until it is reopened."""
        return self._closed

    def close(self) -> None:
        if not self._closed:
            self._writer.close()
            self._closed = True

    def reopen(self) -> None:
        """Go on after `close`, in a new file."""
        if self._closed:
            self._writer.reopen()
            self._closed = False


class FileWriterCache:
    """One FileWriter for each folder of the process; the first to ask for it has its default graph written."""

    _cache: dict[str, FileWriter] = {}
    _writer: Any = FileWriter  # what it makes; tests put a fake one here

    @staticmethod
    def get(logdir: str) -> FileWriter:
        if logdir not in FileWriterCache._cache:
            FileWriterCache._cache[logdir] = FileWriterCache._writer(logdir, graph=get_default_graph())
        return FileWriterCache._cache[logdir]

    @staticmethod
    def clear() -> None:
        for writer in FileWriterCache._cache.values():
            writer.close()
        FileWriterCache._cache = {}
