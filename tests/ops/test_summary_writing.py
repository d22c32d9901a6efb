"""Writers of summaries that belong to a session, as ops and by tf.contrib.summary."""

import glob

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed import summary_writing

summary = tf.contrib.summary


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setattr(summary_writing.current, "writer", None)
    with tf.Graph().as_default() as graph:
        yield graph


def events(folder):
    """The events of all files below a folder, without those that open a file."""
    files = sorted(glob.glob(f"{folder}/**/events*", recursive=True))
    return [e for file in files for e in tf.train.summary_iterator(file) if not e.file_version]


def test_everything_is_written_with_its_step(tmp_path):
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(str(tmp_path))
    pixels = np.float32(np.linspace(0, 1, 2 * 4 * 5).reshape(2, 4, 5, 1))
    with writer.as_default(), summary.always_record_summaries(), tf.name_scope("net"):
        summary.scalar("loss", tf.constant(2.5))
        summary.histogram("weights", tf.constant([1.0, 2.0, 2.0]), family="all")
        summary.image("pictures", pixels, max_images=1)
        summary.audio("sound", np.zeros([1, 100], np.float32), 8000, max_outputs=1, step=7)
        summary.generic("raw", tf.constant([1, 2, 3]), metadata=tf.SummaryMetadata(summary_description="three"))
        extra = tf.Event(wall_time=1.0, step=9, summary=tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=1.0)]))
        imported = summary.import_event(extra.SerializeToString())
        drawn = summary.graph(tf.get_default_graph())
    merged = tf.Summary(value=[tf.Summary.Value(tag="proto", simple_value=3.0)]).SerializeToString()
    proto = tf.raw_ops.WriteRawProtoSummary(writer=writer._handle, step=tf.constant(8, tf.int64), tensor=[merged])
    assert len(summary.all_summary_ops()) == 5 and len(summary.summary_writer_initializer_op()) == 1
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), *summary.summary_writer_initializer_op()])
        session.run(step.assign(3))
        session.run([*summary.all_summary_ops(), imported, drawn, proto])
        session.run(writer.close())
    found = {value.tag: (e.step, value) for e in events(tmp_path) for value in e.summary.value}
    assert {tag: at for tag, (at, _) in found.items()} == {
        "net/loss": 3,
        "all/net/all/weights": 3,
        "net/pictures/image": 3,
        "net/sound/audio": 7,
        "net/raw": 3,
        "own": 9,
        "proto": 8,
    }
    assert found["net/loss"][1].simple_value == 2.5 and found["all/net/all/weights"][1].histo.num == 3
    assert found["net/pictures/image"][1].image.height == 4 and found["net/sound/audio"][1].audio.length_frames == 100
    raw = found["net/raw"][1]
    assert tf.make_ndarray(raw.tensor).tolist() == [1, 2, 3] and raw.metadata.summary_description == "three"
    drawn = [tf.GraphDef.FromString(e.graph_def) for e in events(tmp_path) if e.graph_def]
    assert len(drawn) == 1 and "global_step" in {node.name for node in drawn[0].node}
    assert next(iter(tmp_path.iterdir())).name.endswith(".v2")


def test_only_some_steps_are_recorded(tmp_path):
    step = tf.train.get_or_create_global_step()
    with summary.create_file_writer(str(tmp_path)).as_default():
        with summary.record_summaries_every_n_global_steps(2):
            op = summary.scalar("x", tf.cast(step, tf.float32))
        with summary.never_record_summaries():
            summary.scalar("never", 1.0)
        assert summary.should_record_summaries() is False
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summary.initialize(graph=tf.get_default_graph())
            for _ in range(4):
                session.run(op)
                session.run(step.assign_add(1))
            session.run([summary.all_summary_ops(), summary.flush()])
    assert [(e.step, v.tag) for e in events(tmp_path) for v in e.summary.value] == [(0, "x"), (2, "x"), (4, "x")]
    assert any(e.graph_def for e in events(tmp_path))


def test_at_once_where_ops_run_at_once(tmp_path):
    from tfexp.runtime.eager import eager_mode

    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path))
        writer.set_as_default()
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("x", 3.0, step=5)
            assert summary.all_summary_ops() is None
        summary.create_file_writer(None).set_as_default()
        with pytest.raises(RuntimeError, match="only supported in graph mode"):
            summary.summary_writer_initializer_op()
    assert [(e.step, e.summary.value[0].simple_value) for e in events(tmp_path)] == [(5, 3.0)]


def test_without_a_writer_nothing_is_done():
    none = summary.create_file_writer(None)
    with none.as_default(), summary.always_record_summaries():
        ops = [
            summary.scalar("x", 1.0),
            summary.graph(tf.GraphDef()),
            summary.import_event(b""),
            summary.flush(),
            none.close(),
        ]
    assert {op.type for op in ops} == {"NoOp"} and none.init().type == "NoOp" and summary.all_summary_ops() == []
    assert summary.eval_dir("m") == "m/eval" and summary.eval_dir("m", "test") == "m/eval_test"


def test_what_is_refused(tmp_path):
    writer = summary.create_file_writer(str(tmp_path), name="mine")
    with writer.as_default(), summary.always_record_summaries():
        op = summary.scalar("x", 1.0, step=1)
        vector = summary.scalar("y", [1.0, 2.0], step=1)
        event = summary.import_event(b"\xff\xff")
        with pytest.raises(TypeError, match="or a string tensor of one, not int"):
            summary.graph(3)
        with pytest.raises(ValueError, match="session must be passed"):
            summary.initialize()
    with pytest.raises(RuntimeError, match="No default"):
        summary.initialize()
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="the summary writer 'mine' is not open"):
            session.run(op)
        session.run(writer.init())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"needs a scalar, but its shape is \[2\]"):
            session.run(vector)
        with pytest.raises(tf.errors.DataLossError, match=r"Bad tf\.Event binary proto"):
            session.run(event)
        session.run(writer.close())
        with pytest.raises(tf.errors.NotFoundError, match="is not open"):
            session.run(op)
