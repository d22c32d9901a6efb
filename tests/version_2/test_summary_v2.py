"""`tf.compat.v2.summary`: what is written, under which tag and step, in graphs and where ops run at once."""

import glob

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed.summary_writing import current
from tfexp.runtime.eager import eager_mode

summary = tf.compat.v2.summary


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for name in ("writer", "recording", "step"):
        monkeypatch.setattr(current, name, None)
    with tf.Graph().as_default() as graph:
        yield graph


def values(folder):
    """{tag: (step, plugin, what was written)} of a folder's event files."""
    events = [e for file in sorted(glob.glob(f"{folder}/events*")) for e in tf.train.summary_iterator(file)]
    found = ((e.step, value) for e in events for value in e.summary.value)
    return {v.tag: (step, v.metadata.plugin_data.plugin_name, tf.make_ndarray(v.tensor)) for step, v in found}


def write_each_kind():
    with tf.name_scope("net"):
        summary.scalar("loss", 2, step=3, description="of all")
        summary.text("words", [["a", "b"]], step=3)
        summary.image("pictures", np.linspace(0, 1, 2 * 3 * 5).reshape(2, 3, 5, 1), step=3, max_outputs=1)
        summary.audio("sounds", np.zeros([2, 7, 1], np.float32), 8000, step=3, max_outputs=1)
        summary.histogram("spread", [1.0, 2.0, 2.0], step=3, buckets=4)
        summary.histogram("same", [2.0, 2.0], step=3)
        summary.histogram("none", np.zeros([0], np.float32), step=3)
    summary.write("raw", tf.constant([1, 2]), step=tf.constant(4, tf.int64))


def check_each_kind(found):
    assert [value[:2] for value in found.values()].count((3, "histograms")) == 3 and found["raw"][:2] == (4, "")
    assert found["net/loss"][:2] == (3, "scalars") and found["net/loss"][2] == np.float32(2)
    assert found["net/words"][1] == "text" and found["net/words"][2].tolist() == [[b"a", b"b"]]
    width, height, png = found["net/pictures"][2].tolist()
    assert (width, height, png[1:4]) == (b"5", b"3", b"PNG") and found["net/pictures"][1] == "images"
    ((wav, label),) = found["net/sounds"][2].tolist()
    assert (wav[:4], label) == (b"RIFF", b"") and found["net/sounds"][1] == "audio"
    spread = [[1, 1.25, 1], [1.25, 1.5, 0], [1.5, 1.75, 0], [1.75, 2, 2]]
    assert found["net/spread"][2].tolist() == spread and found["net/spread"][2].dtype == np.float64
    assert found["net/same"][2].tolist() == [[1.5, 2.5, 2]] and found["net/none"][2].shape == (0, 3)
    assert found["raw"][2].tolist() == [1, 2]


def test_each_kind_in_a_graph(tmp_path):
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        write_each_kind()
    with tf.Session() as session:
        session.run(writer.init())
        assert all(session.run(tf.summary.all_v2_summary_ops()))
        session.run(writer.close())
    check_each_kind(values(tmp_path))


def test_each_kind_at_once(tmp_path):
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            write_each_kind()
        check_each_kind(values(tmp_path))
        writer.close()
        writer.close()
        for use in (writer.init, writer.set_as_default, writer.as_default().__enter__):
            with pytest.raises(RuntimeError, match="already closed"):
                use()


def test_in_a_function(tmp_path):
    with eager_mode():
        writer = summary.create_file_writer(str(tmp_path))

        @tf.function
        def double(x):
            with writer.as_default():
                summary.scalar(f"x{len(x.shape)}", x, step=tf.cast(x, tf.int64))
            return 2 * x

        assert [double(tf.constant(x)).numpy() for x in (2.0, 3.0)] == [4.0, 6.0]
        writer.flush()
    assert values(tmp_path)["x0"][::2] == (3, 3.0)


def test_the_nodes_of_a_summary(fresh):
    with summary.create_file_writer("unused").as_default():
        written = summary.write("tag", tf.placeholder(tf.float32), step=1)
    assert written.name == "write_summary/Const:0"
    assert [op.name for op in fresh.get_operations() if op.type not in ("Const", "Placeholder")] == [
        "create_file_writer/add",
        "create_file_writer/SummaryWriter",
        "create_file_writer/CreateSummaryFileWriter",
        "write_summary/LogicalAnd",
        "write_summary/Identity",
        "write_summary",
    ]


def test_the_step_that_is_set_and_where_it_is_recorded(tmp_path):
    with eager_mode(), summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.raises(ValueError, match="No step set"):
            summary.scalar("x", 1.0)
        step = tf.Variable(5, dtype=tf.int64)
        summary.experimental.set_step(step)
        assert summary.experimental.get_step() is step
        with summary.record_if(False):
            assert not summary.scalar("never", 1.0)
        with summary.record_if(lambda: tf.equal(step, 6)):
            assert not summary.scalar("x", 1.0)
            step.assign_add(1)
            assert summary.scalar("x", 2.0)
        proto = tf.Summary(value=[tf.Summary.Value(tag="proto", tensor=tf.make_tensor_proto(3.0))])
        assert summary.experimental.write_raw_pb(proto.SerializeToString())
    assert {tag: (step, value) for tag, (step, _, value) in values(tmp_path).items()} == {"x": (6, 2.0), "proto": (6, 3.0)}


def test_a_tag_keeps_what_a_scope_cannot_have():
    with tf.name_scope("net"), summary.experimental.summary_scope("a b?c") as (tag, scope):
        assert (tag, scope) == ("net/a b?c", "net/abc/")


def test_without_a_writer_nothing_is_written(tmp_path):
    with eager_mode():
        nothing = summary.create_noop_writer()
        with nothing.as_default():
            assert not summary.scalar("x", 1.0)
        with summary.create_file_writer(str(tmp_path)).as_default(), nothing.as_default():
            assert summary.scalar("x", 1.0, step=1)  # as TensorFlow: the writer around it stays the default


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: summary.scalar("x", [1.0, 2.0], step=1), ValueError, "Expected scalar shape"),
        (lambda: summary.image("x", [1.0], step=1), ValueError, "must have rank 4"),
        (lambda: summary.audio("x", [1.0], 8000, step=1), ValueError, "must have rank 3"),
        (lambda: summary.audio("x", [[[1.0]]], 8000, step=1, encoding="mp3"), ValueError, "Unknown encoding: 'mp3'"),
        (lambda: summary.text("x", 3, step=1), TypeError, "must be of type tf.string"),
        (lambda: summary.create_file_writer(None), ValueError, "logdir cannot be None"),
    ],
)
def test_what_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_when_events_reach_the_file(tmp_path):
    def write_twice(folder, **options):
        summary.create_file_writer(str(folder), flush_millis=10**6, **options).set_as_default()
        seen = []
        for step in range(2):
            summary.write(str(step), 1, step=step)
            seen.append(len(values(folder)))
        return seen

    with eager_mode():
        assert write_twice(tmp_path / "a", max_queue=0) == [1, 2]
        assert write_twice(tmp_path / "b", max_queue=1) == [0, 2]
        assert write_twice(tmp_path / "c") == [0, 0]
        writer = summary.create_file_writer(str(tmp_path / "d"))

        @tf.function
        def write(step):
            with writer.as_default():
                return summary.write("t", step, step=step)

        assert write(tf.constant(5, tf.int64)).numpy()
        assert [step for step, _, _ in values(tmp_path / "d").values()] == [5]  # though nobody flushed


def test_a_writer_takes_no_tensors_of_graphs_where_ops_run_at_once(tmp_path):
    tensor = tf.constant(str(tmp_path))
    summary.create_file_writer(tensor)
    with eager_mode():
        with pytest.raises(ValueError, match=r'Invalid graph Tensor argument "logdir=Tensor.* to eagerly executed'):
            summary.create_file_writer(tensor)
        with pytest.raises(ValueError, match=r'"max_queue=Tensor.* to create_file_writer\(\) inside an @tf\.function'):
            tf.function(lambda: summary.create_file_writer(str(tmp_path), max_queue=tf.constant(3)))()
        with pytest.raises(ValueError, match=r"Invalid argument to flush\(\): \[\]"):
            summary.flush([])


def test_bytes_that_are_no_summary(tmp_path):
    with eager_mode(), summary.create_file_writer(str(tmp_path)).as_default():
        for write, text in (
            (lambda: summary.experimental.write_raw_pb(["", "what?"], step=1), "tf.compat.v1.Summary .* at index 1"),
            (lambda: tf.contrib.summary.import_event("what?"), "tf.Event binary proto tensor string"),
            (lambda: tf.contrib.summary.graph(tf.constant("what?"), step=1), "tf.GraphDef binary proto tensor string"),
        ):
            with pytest.raises(tf.errors.DataLossError, match=f"Bad {text}"):
                write()


def test_a_scope_without_a_name():
    with summary.experimental.summary_scope(None) as (tag, scope):
        assert (tag, scope) == ("summary", "summary/")
    with summary.experimental.summary_scope("", "loss") as (tag, scope):
        assert (tag, scope) == ("loss", "loss/")
