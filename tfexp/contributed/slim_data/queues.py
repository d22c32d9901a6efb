"""`tf.contrib.slim.queues`: the queue runners of a graph for as long as a block."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tfexp.train.coordinator import Coordinator
from tfexp.train.queue_runner import start_queue_runners

_running = threading.Lock()


class NestedQueueRunnerError(Exception):
    """Queue runners are running already."""


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """The queue runners of the default graph run within, and are stopped after it. NestedQueueRunnerError within another."""
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("the queue runners are running: QueueRunners cannot be nested")
    try:
        coordinator = Coordinator()
        threads = start_queue_runners(sess=session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)
    finally:
        _running.release()
