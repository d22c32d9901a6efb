"""How many bytes a task's requests and their answers take on the wire, with all that is around the tensors."""

from __future__ import annotations

import threading

__all__ = ["Meter", "Traffic"]


class Traffic:
    """Bytes `sent` and `received` by all channels of a task, of any threads."""

    def __init__(self) -> None:
        self.sent = self.received = 0
        self._lock = threading.Lock()

    def add(self, *, sent: int = 0, received: int = 0) -> None:
        with self._lock:
            self.sent += sent
            self.received += received


class Meter:
    """What passed while one of its blocks was open (`with meter:`)."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._sent = self._received = 0
        self.sent = self.received = 0

    def __enter__(self) -> Meter:
        self._sent, self._received = self._traffic.sent, self._traffic.received
        return self

    def __exit__(self, *error: object) -> None:
        self.sent += self._traffic.sent - self._sent
        self.received += self._traffic.received - self._received
