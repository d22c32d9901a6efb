"""Paths that begin with `file://`: what TensorFlow 2.15 (`compat.v1`) takes and gives back for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.formats.paths import local_path, split_scheme


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"file://{tmp_path}"


def test_schemes() -> None:
    assert split_scheme("file://localhost/a/b") == ("file://localhost", "/a/b")
    assert split_scheme(b"file:///a://b") == ("file://", "/a://b")
    assert [local_path(path) for path in ("a/b", Path("/a"), "file:/a", "")] == ["a/b", "/a", "file:/a", ""]
    with pytest.raises(errors.UnimplementedError, match=r"scheme 'foo' not implemented \(file: 'foo://x'\)"):
        local_path("foo://x")


def test_checkpoints(url: str, tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver(max_to_keep=1)
    with tf.Session() as session:
        session.run(v.initializer)
        assert saver.save(session, f"{url}/model") == f"{url}/model"
        assert (tmp_path / "checkpoint").read_text().startswith('model_checkpoint_path: "model"\n')
        assert tf.train.latest_checkpoint(url) == f"{url}/model"
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model")
        assert tf.train.checkpoint_exists(f"{url}/model") and len(tf.train.get_checkpoint_mtimes([f"{url}/model"])) == 1
        session.run(v.assign(2.0))
        saver.restore(session, f"{url}/model")
        assert session.run(v) == 1.0
        assert saver.save(session, f"{url}/model", global_step=2) == f"{url}/model-2"
        with pytest.raises(ValueError, match=r"Parent directory of file://.*/no/such/m doesn't exist"):
            saver.save(session, f"{url}/no/such/m")
    assert not list(tmp_path.glob("model.*"))  # what was to go is gone
    assert tf.train.list_variables(url) == tf.train.list_variables(f"{url}/model-2") == [("v", [])]
    sharded = tf.train.Saver(sharded=True, name="shards")
    with tf.Session() as session:
        session.run(v.initializer)
        assert sharded.save(session, f"{url}/many") == f"{url}/many"
    assert tf.train.load_variable(f"{url}/many", "v") == 1.0


def test_graphs_and_models(url: str, tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, name="x")
    v = tf.get_variable("v", initializer=3.0)
    tf.train.export_meta_graph(f"{url}/graph.meta")
    assert tf.train.write_graph(tf.get_default_graph(), f"{url}/deep/er", "g.pbtxt") == f"{url}/deep/er/g.pbtxt"
    assert (tmp_path / "deep" / "er" / "g.pbtxt").exists()
    with tf.Session() as session:
        session.run(v.initializer)
        tf.saved_model.simple_save(session, f"{url}/saved", {"x": x}, {"y": x * v})
    assert tf.saved_model.maybe_saved_model_directory(f"{url}/saved")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], f"{url}/saved")
        assert session.run("v:0") == 3.0
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(f"{url}/graph.meta") is not None


def test_records_and_events(url: str, tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(f"{url}/r.tfrecord") as writer:
        writer.write(b"abc")
    assert list(tf.python_io.tf_record_iterator(f"{url}/r.tfrecord")) == [b"abc"]
    tf.summary.FileWriter(f"{url}/logs", tf.get_default_graph()).close()
    (path,) = (tmp_path / "logs").iterdir()
    assert len(list(tf.train.summary_iterator(f"{url}/logs/{path.name}"))) == 3


def test_readers(url: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hi")
    text = tf.read_file(f"{url}/a.txt")
    queue = tf.train.string_input_producer([f"{url}/a.txt"], shuffle=False)
    read: tuple[Any, ...] = tf.TextLineReader().read(queue)
    lines = tf.data.TextLineDataset(f"{url}/a.txt").make_one_shot_iterator().get_next()
    fixed = tf.data.FixedLengthRecordDataset(f"{url}/a.txt", 1).make_one_shot_iterator().get_next()
    matches, written = tf.matching_files(f"{url}/a*"), tf.write_file(f"{url}/new/w.txt", "x")
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        tf.train.start_queue_runners(session, coord)
        assert session.run(read) == (f"{url}/a.txt:1".encode(), b"hi")
        assert session.run([text, lines, fixed]) == [b"hi", b"hi", b"h"]
        assert session.run(matches).tolist() == [f"{url}/a.txt".encode()]
        session.run(written)
        coord.request_stop()
    assert (tmp_path / "new" / "w.txt").read_text() == "x"


def test_gfile(url: str, tmp_path: Path) -> None:
    files = tf.gfile
    with files.GFile(f"{url}/a.txt", "w") as file:
        file.write("hi")
        assert file.name == f"{url}/a.txt"
    with files.GFile(f"{url}/a.txt") as file:
        assert file.read() == (tmp_path / "a.txt").read_text() == "hi"
        assert files.Stat(f"{url}/a.txt").length == file.size() == 2
    assert files.Exists(url) and files.IsDirectory(url) and not files.Exists(f"{url}/none")
    assert files.ListDirectory(url) == ["a.txt"] and files.Glob(f"{url}/*") == [f"{url}/a.txt"]
    files.Copy(f"{url}/a.txt", f"{url}/b.txt")
    with pytest.raises(errors.AlreadyExistsError):
        files.Copy(f"{url}/a.txt", f"{url}/b.txt")
    files.Rename(f"{url}/b.txt", f"{url}/c.txt")
    files.MkDir(f"{url}/x")
    files.MakeDirs(f"{url}/y/z")
    found = [(folder, sorted(inner), sorted(names)) for folder, inner, names in files.Walk(url)]
    assert sorted(found) == [
        (url, ["x", "y"], ["a.txt", "c.txt"]),
        *[(f"{url}/{n}", i, []) for n, i in (("x", []), ("y", ["z"]), ("y/z", []))],
    ]
    files.DeleteRecursively(f"{url}/y")
    files.Remove(f"{url}/c.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "x"]
    with pytest.raises(errors.NotFoundError, match=r"file://.*/none; No such file or directory"):
        files.GFile(f"{url}/none").read()
    with pytest.raises(errors.UnimplementedError, match="scheme 'foo' not implemented"):
        files.Exists("foo://x")
