"""Ctrl-C while a command is being loaded ends it without a traceback; a program that imports tfexp keeps its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tfexp as tf
from tfexp.core.loading import EndedByCtrlC, is_command

PACKAGE_ROOT = Path(next(iter(tf.__path__))).parent

INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


def run(tmp_path: Path, words: list[str], at: str) -> subprocess.CompletedProcess[str]:
    """A process that gets SIGINT when it looks for the module `at`."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED.format(name=at))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(PACKAGE_ROOT)])}
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)


@pytest.mark.parametrize("at", ["tfexp.graph", "tfexp.experiment.cli"])
def test_a_command_ends_without_a_traceback(tmp_path: Path, at: str) -> None:
    ended = run(tmp_path, ["-m", "tfexp", "--version"], at)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_a_program_sees_the_interrupt(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("try:\n    import tfexp\nexcept KeyboardInterrupt:\n    print('mine')\n")
    ended = run(tmp_path, ["program.py"], "tfexp.graph")
    assert (ended.returncode, ended.stdout) == (0, "mine\n"), ended.stderr


def test_what_counts_as_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for words, expected in [
        (["-m", "x"], True), (["/bin/tfexp"], True), (["tfexp.exe"], True), (["train.py"], False), ([], False),
    ]:  # fmt: skip
        monkeypatch.setattr(sys, "argv", words)
        assert is_command() is expected


def test_handlers_come_back_and_others_stay() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []
    try:
        for handler in (signal.default_int_handler, signal.SIG_IGN):
            signal.signal(signal.SIGINT, handler)
            with EndedByCtrlC():
                seen.append(signal.getsignal(signal.SIGINT))
            with EndedByCtrlC(False):
                seen.append(signal.getsignal(signal.SIGINT))
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIG_DFL, signal.default_int_handler, signal.SIG_IGN, signal.SIG_IGN]


def test_in_a_thread_nothing_changes() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def enter() -> None:
        with EndedByCtrlC():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]
