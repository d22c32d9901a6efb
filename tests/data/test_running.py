"""How a pipeline runs: what is measured of it, several devices, pools of threads, records without end."""

import pytest

import tfexp as tf
from tests.data.running import elements, numbers
from tfexp.formats.tfrecord import TFRecordWriter
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for

Data = tf.data.Dataset
experimental = tf.data.experimental
devices = stand_for("tensorflow.python.data.ops.multi_device_iterator_ops")
pools = stand_for("tensorflow.python.data.experimental.ops.threadpool")
rewriting = stand_for("tensorflow.python.data.experimental.ops.optimization")
files = stand_for("tensorflow.python.data.experimental.ops.matching_files")
sleeping = stand_for("tensorflow.python.data.experimental.ops.sleep")
statistics = stand_for("tensorflow.python.data.experimental.ops.stats_ops")
flows = stand_for("tensorflow.python.ops.data_flow_ops")


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


# --- what is measured -------------------------------------------------------------------------------------------------


def summary_of(data, aggregator):
    """What is collected in a run through `data`: the histograms by tag, and what the elements are."""
    iterator = tf.data.make_initializable_iterator(data)
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        found = [session.run(element) for _ in range(3)]
        return {value.tag: value.histo for value in tf.Summary.FromString(session.run(summary)).value}, found


def test_what_pipelines_measure_is_collected():
    data = Data.range(3).map(lambda i: tf.tile([i], [i])).apply(experimental.bytes_produced_stats("bytes"))
    data = data.apply(experimental.latency_stats("latency"))
    options, aggregator = tf.data.Options(), experimental.StatsAggregator()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = "input"
    found, values = summary_of(data.with_options(options), aggregator)
    assert [len(value) for value in values] == [0, 1, 2]
    assert sorted(found) == ["input::bytes", "input::latency"]
    assert (found["input::bytes"].num, found["input::bytes"].sum, found["input::bytes"].max) == (3, 24, 16)
    assert found["input::latency"].num == 3


def test_strings_are_as_large_as_what_they_hold_and_a_pointer():
    aggregator = experimental.StatsAggregator()
    data = Data.from_tensors(["a", "bcd"]).repeat(3).apply(statistics.bytes_produced_stats("size"))
    found, _ = summary_of(data.apply(statistics.set_stats_aggregator(aggregator)), aggregator)
    assert found["size"].min == 2 * 8 + 4


def test_nothing_is_measured_for_nobody():
    assert numbers(Data.range(3).apply(experimental.latency_stats("latency"))) == [0, 1, 2]
    with pytest.raises(TypeError, match="aggregator"):
        tf.data.Options().experimental_stats.aggregator = 3


# --- several devices --------------------------------------------------------------------------------------------------


def test_elements_go_to_devices_in_turn():
    iterator = devices.MultiDeviceIterator(Data.range(5), ["/cpu:0", "/cpu:0"])
    first, second = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run([first, second]) == [0, 1]
        assert session.run([second]) == [3]
        assert session.run([first]) == [2]
        assert session.run([first]) == [4]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(second)
        session.run(iterator.initializer)
        assert session.run(iterator.get_next("/cpu:0")) == 0
    with pytest.raises(ValueError, match="gpu"):
        iterator.get_next("/gpu:0")


def test_devices_that_get_nothing_more_are_told_so():
    iterator = devices.MultiDeviceIterator(Data.range(3), ["/cpu:0", "/cpu:0"], max_buffer_size=2, prefetch_buffer_size=0)
    there = [optional.has_value() for optional in iterator.get_next_as_optional()]
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(there) for _ in range(3)] == [[True, True], [True, False], [False, False]]


def test_devices_get_their_elements_eagerly():
    with eager_mode():
        iterator = devices.MultiDeviceIterator(Data.range(4), ["/cpu:0", "/cpu:0"])
        assert [[int(value) for value in iterator.get_next()] for _ in range(2)] == [[0, 1], [2, 3]]


# --- how it is to run -------------------------------------------------------------------------------------------------


def test_settings_change_no_element():
    data = Data.range(3).map(lambda i: i + 1, num_parallel_calls=2)
    assert numbers(pools.override_threadpool(data, pools.PrivateThreadPool(2, display_name="pool"))) == [1, 2, 3]
    for transformation in (rewriting.optimize(["map_fusion"]), rewriting.non_serializable(), sleeping.sleep(10)):
        assert numbers(data.apply(transformation)) == [1, 2, 3]


def test_names_of_files_are_those_of_all_patterns(tmp_path):
    for name in ("a.1", "b.1", "a.2"):
        (tmp_path / name).touch()
    found = elements(files.MatchingFilesDataset([str(tmp_path / "?.1"), str(tmp_path / "*.2")]))
    assert [name.decode()[-3:] for name in found] == ["a.1", "a.2", "b.1"]
    assert elements(files.MatchingFilesDataset(str(tmp_path / "none*"))) == []


# --- records without end ----------------------------------------------------------------------------------------------


@pytest.fixture
def records(tmp_path):
    for number in range(2):
        with TFRecordWriter(str(tmp_path / f"part{number}")) as writer:
            for record in range(3):
                writer.write(f"{number}{record}".encode())
    return str(tmp_path / "part*")


def test_an_epoch_has_each_record_once(records):
    once = flows.RecordInput(records, batch_size=6, seed=5, shift_ratio=0.5).get_yield_op()
    whole = [b"00", b"01", b"02", b"10", b"11", b"12"]
    with tf.Session() as session:
        first, second = session.run(once).tolist(), session.run(once).tolist()
    assert sorted(first) == sorted(second) == whole


def test_records_come_in_batches_from_a_buffer(records):
    batches = flows.RecordInput(records, batch_size=2, buffer_size=4, batches=3, name="records").get_yield_op()
    assert [len(batch) for batch in batches] == [2, 2, 2]
    assert batches[0][0].shape == []
    with tf.Session() as session:
        assert {record[:1] for batch in session.run(batches) for record in batch} == {b"0", b"1"}


def test_no_records_are_an_error(tmp_path):
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="Found no files"):
        session.run(flows.RecordInput(str(tmp_path / "none*")).get_yield_op())
