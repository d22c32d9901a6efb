"""`tensorflow.python.pywrap_tensorflow.EventsWriter`: event files under names of one's own. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.formats.event import EventFileWriter


class EventsWriter:
    """Writes Events to `<file_prefix>.out.tfevents.<seconds>.<host>`, begun by the first one or by asking for its name."""

    def __init__(self, file_prefix: str | bytes):
        self._folder, self._name = os.path.split(os.fsdecode(file_prefix))
        self._writer: EventFileWriter | None = None

    def _begun(self) -> EventFileWriter:
        if self._writer is None:
            self._writer = EventFileWriter(self._folder or os.curdir, filename_prefix=self._name)
        return self._writer

    def FileName(self) -> bytes:
        return os.fsencode(self._begun().path)

    def WriteEvent(self, event: Any) -> None:
        self._begun().add_event(event)

    def Flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    def Close(self) -> None:
        """What is written to the file from here on is dropped."""
        if self._writer is not None:
            self._writer.close()
