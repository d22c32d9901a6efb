"""Whenever a writer dies or fails, the older checkpoint or the new one is there, whole."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from tests.processes import started
from tfexp.core import errors
from tfexp.formats import bundle_files
from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.bundle_writer import BundleWriter, merge_bundles
from tfexp.formats.checkpoint_state import checkpoint_exists, remove_checkpoint

SIZE = 300_007  # more than one write, no multiple of anything

# For each line of its input [prefix, function, value, calls]: a fork saves the value at the prefix and dies by SIGKILL
# before that call of the function. Prints how each ended.
WRITER = """
import json, os, signal, sys
import numpy as np
from tfexp.formats import bundle_files, bundle_writer

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
prefix, function, value, left = json.loads(line)

def deadly(real):
    def call(*args, **kwargs):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return real(*args, **kwargs)
    return call

class Os:
    replace = staticmethod(deadly(os.replace) if function == "replace" else os.replace)
    def __getattr__(self, name):
        return getattr(os, name)

bundle_files.os = bundle_writer.os = Os()
if function == "crc32c":
    bundle_writer.crc32c = deadly(bundle_writer.crc32c)
if function == "write_index":
    bundle_writer._write_index = deadly(bundle_writer._write_index)

def save(target, names):
    with bundle_writer.BundleWriter(target) as writer:
        for name in names:
            writer.add(name, np.full(300_007, value))

if prefix.endswith("merged"):
    parts = [os.path.join(os.path.dirname(prefix), f"temp{value}", f"part-{i}") for i in range(2)]
    for part, name in zip(parts, "xy"):
        saved, left = left, -1
        save(part, name)
        left = saved
    bundle_writer.merge_bundles(parts, prefix)
else:
    save(prefix, "xy")
"""


def save(prefix: Path, value: float) -> None:
    with BundleWriter(prefix) as bundle:
        for name in "xy":
            bundle.add(name, np.full(SIZE, value))


def values(prefix: Path) -> set[float]:
    """The one value that all elements of a whole checkpoint have."""
    with BundleReader(prefix) as bundle:
        return {float(v) for name in "xy" for v in np.unique(bundle.get_tensor(name))}


class Die(Protocol):
    def __call__(self, prefix: Path, function: str, calls: int, value: float = 2.0) -> None: ...


@pytest.fixture(scope="module")
def die() -> Iterator[Die]:
    """Save the value in a process that dies before that call of the function."""
    command = [sys.executable, "-c", WRITER]
    with started(
        command, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asks, answers = process.stdin, process.stdout

        def save_and_die(prefix: Path, function: str, calls: int, value: float = 2.0) -> None:
            asks.write(json.dumps([str(prefix), function, value, calls]) + "\n")
            assert int(answers.readline()) == -signal.SIGKILL

        yield save_and_die
        asks.close()


@pytest.mark.parametrize(
    ("function", "calls", "expected"),
    [
        ("crc32c", 0, 1.0),  # before the first byte
        ("crc32c", 4, 1.0),  # amid the second tensor
        ("write_index", 0, 1.0),  # data complete, no index
        ("replace", 0, 1.0),  # all complete, nothing renamed
        ("replace", 1, 2.0),  # data renamed, the index not
    ],
)
def test_a_killed_writer(die: Die, tmp_path: Path, function: str, calls: int, expected: float) -> None:
    prefix = tmp_path / "m"
    save(prefix, 1.0)
    die(prefix, function, calls)
    assert values(prefix) == {expected}
    assert checkpoint_exists(str(prefix))
    save(tmp_path / "other", 3.0)  # touches nothing of m
    assert values(prefix) == {expected}
    save(prefix, 3.0)
    assert values(prefix) == {3.0}
    assert sorted(p.name for p in tmp_path.glob("m*")) == ["m.data-00000-of-00001", "m.index"]


@pytest.mark.parametrize(("calls", "expected"), [(0, None), (1, 2.0)])
def test_a_writer_killed_at_its_first_checkpoint(die: Die, tmp_path: Path, calls: int, expected: float | None) -> None:
    prefix = tmp_path / "m"
    die(prefix, "replace", calls)
    assert checkpoint_exists(str(prefix)) == (expected is not None)
    if expected is None:
        with pytest.raises(errors.NotFoundError, match="Failed to find any matching files"):
            BundleReader(prefix)
    else:
        assert values(prefix) == {expected}
    remove_checkpoint(str(prefix))
    assert not list(tmp_path.iterdir())


# Two shards: two renames bring them under temporary names, three more commit them and the index.
@pytest.mark.parametrize(("calls", "expected"), [(1, 1.0), (2, 1.0), (3, 2.0), (4, 2.0)])
def test_a_merge_that_is_killed(die: Die, tmp_path: Path, calls: int, expected: float) -> None:
    prefix = tmp_path / "merged"
    parts = [tmp_path / "temp" / f"part-{i}" for i in range(2)]
    for part, name in zip(parts, "xy", strict=True):
        with BundleWriter(part) as bundle:
            bundle.add(name, np.full(SIZE, 1.0))
    merge_bundles(list(map(str, parts)), prefix)
    die(prefix, "replace", calls)
    assert values(prefix) == {expected}
    bundle_files.settle(str(prefix))
    assert values(prefix) == {expected}
    assert not list(tmp_path.glob("*tempstate*"))


class FullDisk(io.FileIO):
    """A file on which no write succeeds after the first `calls`."""

    def __init__(self, path: str, calls: int):
        super().__init__(path, "xb")
        self.calls = calls

    def write(self, data: Any) -> int:
        if self.calls == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.calls -= 1
        return super().write(data)


@pytest.mark.parametrize(("suffix", "calls"), [("data", 0), ("data", 3), ("index", 0)])
@pytest.mark.parametrize("size", [SIZE, 3])  # 3: the bytes wait in a buffer until the end
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, calls: int, size: int) -> None:
    prefix = tmp_path / "m"
    save(prefix, 1.0)

    def opened(path: str, mode: str, buffering: int = 1 << 16) -> Any:
        assert mode == "xb"
        return io.BufferedWriter(FullDisk(path, calls if f".{suffix}" in path else -1), buffering)

    def save_many() -> None:
        with BundleWriter(prefix) as bundle:
            for i in range(10 if size == SIZE else 10_007):
                bundle.add(str(i), np.full(size, 2.0))

    monkeypatch.setattr("tfexp.formats.bundle_writer.open", opened, raising=False)
    with pytest.raises(errors.ResourceExhaustedError, match="No space left on device"):
        save_many()
    monkeypatch.undo()
    assert values(prefix) == {1.0}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.data-00000-of-00001", "m.index"]


def test_an_error_between_two_tensors(tmp_path: Path) -> None:
    save(tmp_path / "m", 1.0)

    def interrupted() -> None:
        with BundleWriter(tmp_path / "m") as bundle:
            bundle.add("x", np.full(SIZE, 2.0))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert values(tmp_path / "m") == {1.0}
    assert len(list(tmp_path.iterdir())) == 2


def test_an_error_amid_the_commit_leaves_what_finishes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "m", 1.0)
    real = os.replace

    def refused(source: str, target: str) -> None:
        if target.endswith(".index"):
            raise PermissionError(errno.EACCES, "Permission denied", target)
        real(source, target)

    monkeypatch.setattr("os.replace", refused)
    with pytest.raises(errors.PermissionDeniedError, match=r"m\.index; Permission denied"):
        save(tmp_path / "m", 2.0)
    monkeypatch.undo()
    assert values(tmp_path / "m") == {2.0}


def test_a_reader_of_the_older_checkpoint_keeps_its_files(tmp_path: Path) -> None:
    save(tmp_path / "m", 1.0)
    with BundleReader(tmp_path / "m") as bundle:
        assert bundle.get_tensor("x")[0] == 1.0
        save(tmp_path / "m", 2.0)
        assert bundle.get_tensor("y")[0] == 1.0
    assert values(tmp_path / "m") == {2.0}


def test_a_checkpoint_that_is_replaced_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfexp.formats import bundle_reader

    save(tmp_path / "m", 1.0)
    real, left = bundle_reader.read_index, [2.0, 3.0]

    def slow(prefix: str, token: str | None = None) -> Any:
        index = real(prefix, token)
        if left:
            save(tmp_path / "m", left.pop(0))
        return index

    monkeypatch.setattr(bundle_reader, "read_index", slow)
    assert values(tmp_path / "m") == {3.0}


def test_a_closed_reader_says_so(tmp_path: Path) -> None:
    save(tmp_path / "m", 1.0)
    bundle = BundleReader(tmp_path / "m")
    bundle.close()
    with pytest.raises(ValueError, match=r"the reader of .*m is closed; it cannot read 'x'"):
        bundle.get_tensor("x")
