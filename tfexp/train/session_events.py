"""Events that a session writes, so that their file is where its server is: `tf.summary.FileWriter(session=...)`. TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import device, name_scope
from tfexp.ops import summary_writing as ops
from tfexp.ops.array_identity import placeholder


class SessionEventWriter:
    """An event file that ops in the session's graph write; `formats.event.EventFileWriter` by its methods.

    RuntimeError where the graph is finalized: it gets nodes for each writer.
    """

    def __init__(self, session: Any, logdir: Any, max_queue: int, flush_secs: float, filename_suffix: str | None):
        self._session, self._logdir = session, os.fspath(logdir)
        with session.graph.as_default(), name_scope("filewriter"), device("cpu:0"):
            writer = ops.summary_writer_op(shared_name=f"logdir:{self._logdir}")
            self._event = placeholder(dtypes.string, [])
            self._write = ops.import_event_op(writer, self._event)
            self._flush, self._close = ops.flush_summary_writer_op(writer), ops.close_summary_writer_op(writer)
            options = (constant(self._logdir), constant(max_queue), constant(int(flush_secs * 1000)))
            self._open = ops.create_summary_file_writer_op(writer, *options, constant(filename_suffix or ""))
        self.reopen()

    def get_logdir(self) -> str:
        """The folder of the files."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Append an Event proto."""
        self._session.run(self._write, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Write what waits to the file."""
        self._session.run(self._flush)

    def close(self) -> None:
        """Write what waits and close the file."""
        self._session.run(self._close)

    def reopen(self) -> None:
        """Begin a file."""
        self._session.run(self._open)
