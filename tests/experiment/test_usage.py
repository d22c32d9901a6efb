"""What every command does with its standard output, and when it is interrupted at once."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

import tfexp as tf
from tfexp.experiment.endings import says_when_full
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.outputs import RunFiles
from tfexp.usage import while_read


def print_much() -> int:
    print("±" * 100_000)
    return 3


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes a file descriptor the standard output."""
    opened = []

    def become(descriptor: int, encoding: str = "utf-8") -> None:
        opened.append(open(descriptor, "w", encoding=encoding))  # noqa: SIM115 -- for the whole test
        monkeypatch.setattr("sys.stdout", opened[-1])

    yield become
    for one in opened:
        one.close()


def test_a_terminal_that_lacks_letters_shows_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, "ascii"))
    assert while_read(print_much) == 3
    assert written.getvalue() == b"?" * 100_000 + b"\n"


def test_a_terminal_of_no_width_shows_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    written = io.StringIO()

    def print_table() -> int:
        Console(file=written, soft_wrap=True).print("a table")
        return 0

    assert while_read(print_table) == 0
    assert written.getvalue() == "a table\n"


def test_nobody_who_reads_on_is_no_error(output: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output(writing)
    assert while_read(print_much) == 0
    assert capsys.readouterr().err == ""


def test_a_failure_stays_one_though_nobody_reads_on(output: Callable[..., None]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    output(writing)

    def fail() -> int:
        print("little enough to be written at the end")
        return 2

    assert while_read(fail) == 2


def test_no_room_is_one_message(output: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    output(os.open("/dev/full", os.O_WRONLY))
    assert while_read(print_much) == 1
    assert capsys.readouterr().err == "tfexp: what was to be written cannot be: No space left on device\n"


def test_other_errors_are_raised() -> None:
    with pytest.raises(FileNotFoundError):
        while_read(lambda: len(Path("nowhere/at all").read_text()))


def test_a_run_that_nobody_reads_says_how_to_go_on(tmp_path: Path) -> None:
    @says_when_full
    def run(self: None, files: RunFiles) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    with pytest.raises(ExperimentError) as caught:
        run(None, RunFiles(tmp_path))
    first, second = str(caught.value).splitlines()
    assert first == "standard output cannot be written: Broken pipe"
    assert second == "nothing was saved yet: send it elsewhere, and run it again"


def test_interrupted_while_it_starts_it_ends_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "hydra.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), str(Path(tf.__file__).parents[1])])
    command = [sys.executable, "-m", "tfexp", "model=linreg"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "tfexp: interrupted\n")
