"""What a forgotten session leaves ends without anybody who waits for it, or hears of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tfexp.runtime.resources import Resources


class Ending:
    def __init__(self, dispose: Callable[[], None]):
        self.dispose = dispose


def test_of_what_is_forgotten_each_comes_to_its_end() -> None:
    resources, may_end, ended = Resources(), threading.Event(), threading.Event()

    def fail() -> None:
        may_end.wait(60)
        raise ValueError("its graph has gone first")

    for number, dispose in enumerate([fail, ended.set]):
        resources.get("", str(number), lambda dispose=dispose: Ending(dispose))  # type: ignore[misc]
    resources.forget()
    assert resources.find("", "0") is None
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(60)
