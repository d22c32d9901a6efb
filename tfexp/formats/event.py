"""Event files, which TensorBoard shows: TFRecords of Event messages, the first of which gives the format's
version.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event

from tfexp.core.errors import DataLossError
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path
from tfexp.formats.tfrecord import encode_record, tf_record_iterator

_FILE_VERSION = "brain.Event:2"


class EventFileWriter:
    """Appends events to a new file `<prefix>.out.tfevents.<seconds>.<host><suffix>` in `logdir`, which it makes
    if need be.

    Events reach the file when `max_queue` of them wait, `flush_secs` after the last time, on `flush` and on
    `close`. Several threads may add. Source: the writer under `tf.summary.FileWriter`.

    Raises PermissionDeniedError, ResourceExhaustedError and the like (`file_errors`) where the file system
    refuses.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
        filename_prefix: str = "events",
    ):
        self._logdir = os.fspath(logdir)
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._prefix, self._suffix = filename_prefix, filename_suffix or ""
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        try:
            os.makedirs(local_path(self._logdir), exist_ok=True)
        except OSError as error:
            raise file_error(self._logdir, error) from error
        self._file: int | None = None
        self._start_file()

    @property
    def path(self) -> str:
        """The file that is written now."""
        return self._path

    def get_logdir(self) -> str:
        """The folder of the files."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Appends an Event. After `close` the event is dropped, unless `reopen` was called."""
        record = encode_record(event.SerializeToString())
        with self._lock:
            if self._file is None:
                return
            self._waiting.append(record)
            if len(self._waiting) >= self._max_queue or time.monotonic() >= self._next_flush:
                self._write()

    def flush(self) -> None:
        """Hands all events to the operating system."""
        with self._lock:
            if self._file is not None:
                self._write()

    def close(self) -> None:
        """Flushes and closes the file. Further calls do nothing."""
        with self._lock:
            if self._file is None:
                return
            self._write()
            os.close(self._file)
            self._file = None

    def reopen(self) -> None:
        """After `close`, goes on in a new file; does nothing while a file is open."""
        with self._lock:
            if self._file is None:
                self._start_file()

    def _start_file(self) -> None:
        """Opens a file of a name that is not taken: of two writers in one second the later takes the next
        second.
        """
        now = time.time()
        second = int(now)
        while True:
            name = f"{self._prefix}.out.tfevents.{second:010d}.{os.uname().nodename}{self._suffix}"
            self._path = os.path.join(self._logdir, name)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._file = os.open(local_path(self._path), flags, 0o644)
                break
            except FileExistsError:
                second += 1
            except OSError as error:
                raise file_error(self._path, error) from error
        version = Event(wall_time=now, file_version=_FILE_VERSION)
        self._waiting.append(encode_record(version.SerializeToString()))
        self._write()

    def _write(self) -> None:
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._next_flush = time.monotonic() + self._flush_secs
        view = memoryview(data)
        try:
            while view:
                assert self._file is not None
                view = view[os.write(self._file, view) :]
        except OSError as error:
            raise file_error(self._path, error) from error


def read_events(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The Events of a file. Source: `tf.train.summary_iterator`.

    Raises NotFoundError where there is no such file, DataLossError (naming file, record and offset) where it
    is damaged or its end is missing.
    """
    for number, record in enumerate(tf_record_iterator(path)):
        try:
            event = Event.FromString(record)
        except DecodeError as error:
            raise DataLossError(None, None, f"{os.fspath(path)}: record {number} is no Event: {error}") from None
        yield event
