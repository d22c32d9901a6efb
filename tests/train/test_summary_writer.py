"""`tf.summary.FileWriter`, read back with TensorBoard's own loaders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import config_pb2, event_pb2, meta_graph_pb2, summary_pb2

import tfexp as tf
from tfexp.train.summary_writer import FileWriterCache


def loaded(folder: Path) -> Any:
    accumulator = EventAccumulator(str(folder), size_guidance={"histograms": 0, "scalars": 0, "tensors": 0})
    accumulator.Reload()
    return accumulator


@pytest.fixture
def clean_cache() -> Iterator[None]:
    FileWriterCache.clear()
    yield
    FileWriterCache.clear()


def test_scalars_histograms_and_the_graph(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.name_scope("loss"):
        tf.summary.scalar("average", tf.reduce_mean(x))
    tf.summary.histogram("values", x)
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path), session.graph) as writer:
        for step in range(3):
            writer.add_summary(session.run(merged, {x: [step, step + 2.0]}), step)
        assert writer.get_logdir() == str(tmp_path)
    found = loaded(tmp_path)
    scalars = found.Scalars("loss/average")
    assert [(event.step, event.value) for event in scalars] == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert scalars[0].wall_time <= scalars[2].wall_time
    histograms = found.Histograms("values")
    assert [(h.step, h.histogram_value.min, h.histogram_value.max, h.histogram_value.num) for h in histograms] == [
        (0, 0.0, 2.0, 2.0),
        (1, 1.0, 3.0, 2.0),
        (2, 2.0, 4.0, 2.0),
    ]
    graph = found.Graph()
    assert [node.name for node in graph.node] == [op.name for op in tf.get_default_graph().get_operations()]
    assert graph.node[0].attr["_output_shapes"].list.shape[0].dim[0].size == -1
    meta = meta_graph_pb2.MetaGraphDef()
    meta.CopyFrom(found.MetaGraph())
    assert meta.graph_def == graph


def test_summary_protos_and_steps(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path), filename_suffix=".mine") as writer:
        own = tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1.5)])
        writer.add_summary(own, global_step=np.int64(7))
        writer.add_summary(own.SerializeToString())  # no step
        writer.add_summary(summary_pb2.Summary(value=own.value), 9)
        event = event_pb2.Event(wall_time=12.0, step=11)
        event.summary.CopyFrom(own)
        writer.add_event(event)
        writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.START), 12)
    assert [e.step for e in loaded(tmp_path).Scalars("t")] == [7, 0, 9, 11]
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("events.out.tfevents.") and file.name.endswith(".mine")


def test_metadata_of_a_tag_is_written_once(tmp_path: Path) -> None:
    value = tf.Summary.Value(tag="t", simple_value=1.0)
    value.metadata.display_name = "shown"
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(2):
            writer.add_summary(tf.Summary(value=[value]), step)
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    (file,) = tmp_path.iterdir()
    events = [event_pb2.Event.FromString(data) for data in RawEventFileLoader(str(file)).Load()]
    described = [v.HasField("metadata") for e in events for v in e.summary.value]
    assert described == [True, False]


def test_run_metadata(tmp_path: Path) -> None:
    metadata = config_pb2.RunMetadata()
    metadata.step_stats.dev_stats.add(device="/cpu:0")
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_run_metadata(metadata, "step 1", 1)
        with pytest.raises(ValueError, match="tag was already used for this event type: 'step 1'"):
            writer.add_run_metadata(metadata, "step 1", 2)
    found = loaded(tmp_path)
    assert found.Tags()["run_metadata"] == ["step 1"]
    assert found.RunMetadata("step 1").step_stats.dev_stats[0].device == "/cpu:0"


def test_graphs(tmp_path: Path) -> None:
    tf.constant(1.0, name="c")
    graph = tf.get_default_graph()
    definition = graph.as_graph_def()
    for folder, arguments in (("a", (graph,)), ("b", (definition,)), ("c", (None, None, definition))):
        with tf.summary.FileWriter(str(tmp_path / folder)) as writer:
            writer.add_graph(*arguments)
        assert [node.name for node in loaded(tmp_path / folder).Graph().node] == ["c"]
    for folder, named in (("e", {"graph": definition}), ("f", {"graph_def": definition})):
        tf.summary.FileWriter(str(tmp_path / folder), **named).close()
        (file,) = (tmp_path / folder).iterdir()
        written = [e.meta_graph_def for e in tf.train.summary_iterator(str(file)) if e.HasField("meta_graph_def")]
        assert [tf.MetaGraphDef.FromString(one).graph_def for one in written] == [definition]
    with tf.summary.FileWriter(str(tmp_path / "d")) as writer:
        with pytest.raises(ValueError, match="only graph, or graph_def"):
            writer.add_graph(graph, graph_def=definition)
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph("graph")
        with pytest.raises(TypeError, match="must be type MetaGraphDef"):
            writer.add_meta_graph(definition)


def test_flush_close_and_reopen(tmp_path: Path) -> None:
    summary = tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1.0)])
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary, 1)
    writer.flush()
    assert [e.step for e in loaded(tmp_path).Scalars("t")] == [1]
    writer.close()
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(summary, 2)
    writer.reopen()
    writer.add_summary(summary, 3)
    writer.close()
    assert [e.step for e in loaded(tmp_path).Scalars("t")] == [1, 3]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("clean_cache")
def test_one_writer_for_a_folder(tmp_path: Path) -> None:
    first = FileWriterCache.get(str(tmp_path))
    assert FileWriterCache.get(str(tmp_path)) is first
    FileWriterCache.clear()
    assert FileWriterCache.get(str(tmp_path)) is not first
