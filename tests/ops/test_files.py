"""Files as a whole, read, written and found by a graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


def test_written_and_read(tmp_path: Path) -> None:
    name, content = tf.placeholder(tf.string), tf.placeholder(tf.string)
    write, read = tf.write_file(name, content), tf.read_file(name)
    assert read.get_shape().rank is None or read.get_shape() == []
    path = str(tmp_path / "new" / "folder" / "file")
    with tf.Session() as session:
        with pytest.raises(NotFoundError, match=r"file; No such file or directory\n\t \[\[{{node ReadFile}}"):
            session.run(read, {name: path})
        for data in (b"one\x00\xff", b"two"):
            session.run(write, {name: path, content: data})
            assert session.run(read, {name: path}) == data
        for node in (read, write):
            with pytest.raises(FailedPreconditionError, match="Is a directory"):
                session.run(node, {name: str(tmp_path), content: b""})
        with pytest.raises(InvalidArgumentError, match=r"Input filename tensor must be scalar, but had shape: \[1\]"):
            session.run(read, {name: [path]})


def test_a_constant_name_is_read_each_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    read = tf.read_file(str(path))
    with tf.Session() as session:
        for data in (b"1", b"2", b"3"):
            path.write_bytes(data)
            assert session.run(read) == data


def test_shapes() -> None:
    assert tf.matching_files("x").get_shape().as_list() == [None]
    with pytest.raises(ValueError, match="at most rank 1"):
        tf.matching_files([["x"]])
    with pytest.raises(ValueError, match="rank 0"):
        tf.read_file(["x"])
    with pytest.raises(ValueError, match="rank 0"):
        tf.write_file("x", ["y"])


def test_matching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.bin"):
        Path(name).write_bytes(b"")
    pattern = tf.placeholder(tf.string)
    found = tf.matching_files(pattern)
    with tf.Session() as session:
        assert session.run(found, {pattern: "*.txt"}).tolist() == [b"./a.txt", b"./b.txt"]
        both = session.run(found, {pattern: np.array(["*.bin", "a*", f"{tmp_path}/a*"], object)})
        assert both.tolist() == sorted([b"./a.txt", b"./c.bin", str(tmp_path / "a.txt").encode()])
        assert session.run(found, {pattern: "nowhere/*"}).tolist() == []
