"""`tensorflow.python.pywrap_tensorflow.EventsWriter`: event files under names of one's own. Source: TF 1.15."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from tfexp.formats.event import EventFileWriter


class EventsWriter:
    """Writes Events to `<file_prefix>.out.tfevents.<seconds>.<host>`, which is begun with the first one."""

    def __init__(self, file_prefix: str | bytes):
        self._folder, self._name = os.path.split(os.fsdecode(file_prefix))

    @cached_property
    def _writer(self) -> EventFileWriter:
        return EventFileWriter(self._folder or os.curdir, filename_prefix=self._name)

    def FileName(self) -> bytes:
        return os.fsencode(self._writer.path)

    def WriteEvent(self, event: Any) -> None:
        self._writer.add_event(event)

    def Flush(self) -> None:
        self._writer.flush()

    def Close(self) -> None:
        """What is written from here on is dropped."""
        self._writer.close()
