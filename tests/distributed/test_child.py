"""A process that is ours: what is said of how it ended."""

from __future__ import annotations

import os
import queue
import signal
from pathlib import Path

import pytest

from tfexp.distributed.child import Child

WAITS = """
import os, sys, threading
from tfexp.distributed.child import pipes

with pipes(sys.argv[1:]) as link:
    threading.Thread(target=link.receive, daemon=True).start()
    link.send({"kind": "alive", "pid": os.getpid()})
    threading.Event().wait()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_is_named(number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the one that Python makes an exception of, while another thread waits for messages."""
    (tmp_path / "waits.py").write_text(WAITS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    said: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
    child = Child("waits", "it", tmp_path / "log", lambda name, message: said.put(message))
    try:
        os.kill(int(str(said.get(timeout=60)["pid"])), number)
        assert said.get(timeout=60) == {"kind": "exited", "why": f"its process was killed by {number.name}"}
    finally:
        child.end(0)
    assert (tmp_path / "log").read_text(encoding="utf-8") == ""
