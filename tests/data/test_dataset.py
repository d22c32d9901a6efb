"""Data sets against what Python's own iteration gives; the graphs and TensorFlow's elements are in tests/golden."""

import threading
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexp as tf
from tests.data.running import drain, elements, numbers, unbatched
from tfexp.data import experimental
from tfexp.formats.tfrecord import TFRecordWriter

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# --- in order ----------------------------------------------------------------------------------------------------


STEPS = ["map", "filter", "take", "skip", "shard", "repeat", "concatenate", "cache", "prefetch"]


def doubled(v):
    return v * 2 + 1


def doubled_alone(v):
    return tf.unique([v * 2 + 1]).y[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_chains_of_transformations_give_what_python_gives(data):
    """Draw a chain; every step is applied to the data set and to a list."""
    with tf.Graph().as_default():
        size = data.draw(st.integers(0, 17))
        dataset, expected = Data.range(size), list(range(size))
        liftable = data.draw(st.booleans())
        for _ in range(data.draw(st.integers(1, 5))):
            step, n = data.draw(st.sampled_from(STEPS)), data.draw(st.integers(1, 5))
            if step == "map":
                function, expected = doubled if liftable else doubled_alone, [v * 2 + 1 for v in expected]
                dataset = dataset.map(function)
            elif step == "filter":
                dataset, expected = dataset.filter(lambda v: tf.not_equal(v % 3, 0)), [v for v in expected if v % 3]
            elif step == "take":
                dataset, expected = dataset.take(n), expected[:n]
            elif step == "skip":
                dataset, expected = dataset.skip(n), expected[n:]
            elif step == "shard":
                dataset, expected = dataset.shard(n, n - 1), expected[n - 1 :: n]
            elif step == "repeat":
                dataset, expected = dataset.repeat(2), expected * 2
            elif step == "concatenate":
                dataset, expected = dataset.concatenate(Data.range(n)), expected + list(range(n))
            elif step == "cache":
                dataset = dataset.cache()
            else:
                dataset = dataset.prefetch(n)
        assert numbers(dataset) == expected
        size = data.draw(st.integers(1, 4))
        assert numbers(dataset.batch(size)) == [expected[i : i + size] for i in range(0, len(expected), size)]


def test_repeat_for_ever_of_nothing_is_nothing():
    assert numbers(Data.range(0).repeat()) == []
    assert numbers(Data.range(2).repeat().take(5)) == [0, 1, 0, 1, 0]


def test_zip_of_blocks_of_different_lengths():
    left = Data.range(11).filter(lambda v: tf.not_equal(v % 3, 0))
    zipped = Data.zip((left, Data.range(100, 107))).batch(4)
    assert [[column.tolist() for column in batch] for batch in elements(zipped)] == [
        [[1, 2, 4, 5], [100, 101, 102, 103]],
        [[7, 8, 10], [104, 105, 106]],
    ]


def test_a_named_tuple_stays_one():
    from collections import namedtuple

    Pair = namedtuple("Pair", ["first", "second"])
    dataset = Data.range(2).map(lambda v: Pair(v, -v))
    assert elements(dataset) == [Pair(0, 0), Pair(1, -1)]
    assert dataset.output_types == Pair(tf.int64, tf.int64)


# --- shuffling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffer_size", [1, 3, 7, 100])
@pytest.mark.parametrize("liftable", [True, False])
def test_shuffling_loses_nothing_and_stays_within_its_buffer(buffer_size, liftable):
    source = Data.range(23) if liftable else Data.range(23).map(lambda v: tf.unique([v]).y[0])
    order = numbers(source.shuffle(buffer_size, seed=9))
    assert sorted(order) == list(range(23))
    assert all(value < position + buffer_size for position, value in enumerate(order))
    assert numbers(source.shuffle(buffer_size, seed=9)) == order
    assert numbers(source.shuffle(buffer_size, seed=9).batch(5)) == [order[i : i + 5] for i in range(0, 23, 5)]


def test_without_a_seed_the_order_is_another_each_time():
    orders = {tuple(numbers(Data.range(50).shuffle(50))) for _ in range(3)}
    assert len(orders) == 3


# --- errors ------------------------------------------------------------------------------------------------------


def test_an_error_in_a_map_comes_after_the_elements_before_it():
    dataset = Data.range(-3, 3).map(lambda v: 12 // v)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(3)] == [-4, -6, -12]
        with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
            session.run(element)
        assert [session.run(element) for _ in range(2)] == [12, 6]
    assert numbers(dataset.apply(experimental.ignore_errors())) == [-4, -6, -12, 12, 6]
    assert numbers(dataset.apply(experimental.ignore_errors()).batch(2)) == [[-4, -6], [-12, 12], [6]]


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: Data.range(3).batch(0), tf.errors.InvalidArgumentError, "Batch size must be greater than zero"),
        (lambda: Data.range(3).shuffle(0), tf.errors.InvalidArgumentError, "buffer_size must be greater than zero"),
        (lambda: Data.range(3).shard(2, 5), tf.errors.InvalidArgumentError, "Index must be between 0 and 1"),
        (lambda: Data.range(3).window(0), tf.errors.InvalidArgumentError, "Window size must be greater than zero"),
        (
            lambda: Data.range(4).map(lambda v: tf.ones([v])).batch(2),
            tf.errors.InvalidArgumentError,
            r"Cannot batch tensors with different shapes in component 0. First element had shape \[0\] and element 1",
        ),
        (
            lambda: Data.range(4).map(lambda v: tf.ones([v])).padded_batch(3, [1]),
            tf.errors.DataLossError,
            "Attempted to pad to a smaller size than the input element",
        ),
        (lambda: Data.range(1, 5, 0), tf.errors.InvalidArgumentError, "step must be a non-zero integer"),
    ],
)
def test_what_cannot_work_is_said_when_it_runs(build, kind, message):
    with pytest.raises(kind, match=message):
        elements(build())


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: Data.from_tensor_slices((np.zeros(3), np.zeros(4))), ValueError, "Dimensions 3 and 4 are not compatible"),
        (lambda: Data.from_tensor_slices(1), ValueError, "has insufficient rank for batching"),
        (lambda: Data.zip([Data.range(3)]), TypeError, "do not support Python lists"),
        (
            lambda: Data.range(3).map(lambda v: object()),
            TypeError,
            r"Unsupported return value from function passed to Dataset.map\(\)",
        ),
        (
            lambda: Data.range(3).filter(lambda v: v),
            ValueError,
            "return type must be convertible to a scalar boolean tensor",
        ),
        (lambda: Data.range(3).flat_map(lambda v: v), TypeError, "must return a `Dataset` object"),
        (lambda: Data.range(1).concatenate(Data.from_tensors("a")), TypeError, "int64 and string"),
        (lambda: Data.range(1).concatenate(5), TypeError, "must be a Dataset object, but got <class 'int'>"),
        (lambda: tf.Session().run(Data.range(1)), TypeError, "has invalid type .*must be a string or Tensor"),
        (lambda: Data.range(1).apply(lambda d: 3), TypeError, "must return a Dataset. Got 3"),
        (lambda: Data.range(), ValueError, "One to three integers"),
    ],
)
def test_what_cannot_work_is_said_at_once(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


# --- threads -----------------------------------------------------------------------------------------------------


def test_a_prefetching_thread_ends_with_its_session():
    before = set(threading.enumerate())
    dataset = Data.range(10**9).map(lambda v: tf.unique([v]).y[0]).prefetch(3)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(5)] == [0, 1, 2, 3, 4]
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()


def test_a_prefetched_error_comes_in_its_place():
    dataset = Data.range(-2, 3).map(lambda v: tf.reverse([4 // v], [0])[0]).prefetch(2)
    assert numbers(dataset.apply(experimental.ignore_errors())) == [-2, -4, 4, 2]


@pytest.mark.parametrize("calls", [1, 3])
def test_a_parallel_map_keeps_the_order_and_the_errors_in_it(calls):
    dataset = Data.range(-20, 50).map(lambda v: tf.reverse([100 // v], [0])[0], num_parallel_calls=calls)
    assert numbers(dataset.apply(experimental.ignore_errors())) == [100 // v for v in range(-20, 50) if v]


def test_several_threads_share_an_iterator():
    iterator = tf.data.make_initializable_iterator(Data.range(200).map(lambda v: tf.unique([v]).y[0]).prefetch(4))
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        threads = [threading.Thread(target=lambda: found.extend(drain(session, element))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(200))


# --- iterators ---------------------------------------------------------------------------------------------------


def test_an_iterator_begins_before_it_is_asked():
    iterator = tf.data.make_initializable_iterator(Data.range(1))
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
            session.run(element)
        session.run(iterator.initializer)
        assert session.run(element) == 0
        for _ in range(3):
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(element)
        session.run(iterator.initializer)
        assert session.run(element) == 0


def test_a_feedable_iterator_switches_between_data_sets():
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    training = tf.data.make_one_shot_iterator(Data.range(3))
    validation = tf.data.make_initializable_iterator(Data.range(100, 103))
    with tf.Session() as session:
        first, second = session.run([training.string_handle(), validation.string_handle()])
        session.run(validation.initializer)
        order = [first, second, first, second, second, first]
        assert [session.run(element, {handle: h}) for h in order] == [0, 100, 1, 101, 102, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no handle of an iterator"):
            session.run(element, {handle: "nonsense"})


def test_an_iterator_of_an_imported_graph():
    with tf.Graph().as_default() as graph:
        made = tf.data.make_initializable_iterator(Data.from_tensor_slices({"x": [1, 2]}).batch(2))
        names = [made._iterator_resource.name, made.initializer.name]
    with tf.Graph().as_default():
        resource, initializer = tf.import_graph_def(graph.as_graph_def(), return_elements=names, name="")
        iterator = tf.data.Iterator(resource, None, {"x": tf.int32}, {"x": tf.TensorShape([None])}, {"x": tf.Tensor})
        assert tf.data.get_output_shapes(iterator)["x"].as_list() == [None]
        with tf.Session() as session:
            session.run(initializer)
            assert session.run(iterator.get_next())["x"].tolist() == [1, 2]
        with pytest.raises(ValueError, match="must be specified"):
            tf.data.Iterator(resource, None, tf.int32, tf.TensorShape([None]), None)


def test_an_initializer_refuses_other_elements():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    with pytest.raises(TypeError, match=r"Expected output types tf\.int64"):
        iterator.make_initializer(Data.from_tensors(1.0))
    with pytest.raises(TypeError, match="Expected output shapes compatible with"):
        iterator.make_initializer(Data.range(3).batch(2))
    with pytest.raises(ValueError, match="does not have an initializer"):
        _ = iterator.initializer


def test_a_one_shot_iterator_takes_no_placeholder_and_no_variable():
    placeholder, variable = tf.placeholder(tf.int64, [], name="p"), tf.Variable(3, dtype=tf.int64, name="v")
    with pytest.raises(ValueError, match=r"Cannot capture a placeholder \(name:p, type:Placeholder\) by value"):
        Data.range(3).map(lambda v: v + placeholder).make_one_shot_iterator()
    with pytest.raises(ValueError, match=r"Cannot capture a stateful node \(name:v, type:VariableV2\) by value"):
        Data.range(3).map(lambda v: v + variable).make_one_shot_iterator()


def test_calling_get_next_in_a_loop_is_pointed_out():
    iterator = tf.data.make_one_shot_iterator(Data.range(3))
    for _ in range(32):
        iterator.get_next()
    with pytest.warns(UserWarning, match="unusually high number of `Iterator.get_next"):
        iterator.get_next()


def test_what_comes_out_belongs_to_who_asked():
    """Elements of a cache or of slices are the data set's: changing what was fetched changes nothing there."""
    dataset = Data.from_tensor_slices(np.arange(6.0).reshape(3, 2)).cache().repeat(2)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        first = [session.run(element) for _ in range(3)]
        for value in first:
            value[...] = -1
        np.testing.assert_array_equal([session.run(element) for _ in range(3)], np.arange(6.0).reshape(3, 2))


# --- positions ---------------------------------------------------------------------------------------------------

PIPELINES = {
    "shuffled in blocks": lambda: Data.range(17).shuffle(5, seed=3).map(lambda v: v * 2).repeat(3).batch(4),
    "shuffled one by one": lambda: Data.range(17).map(lambda v: tf.unique([v]).y[0]).shuffle(5, seed=3).repeat(3),
    "cached, zipped": lambda: Data.zip((Data.range(7).cache().repeat(4), Data.range(30))).shard(2, 1),
    "nested": lambda: Data.range(5).flat_map(lambda v: Data.range(v).shuffle(3, seed=1)).concatenate(Data.range(9)),
    "in turn": lambda: Data.range(1, 6).interleave(lambda v: Data.from_tensors(v).repeat(v), 2, 2),
    "in turn, by threads": lambda: Data.range(1, 6).interleave(lambda v: Data.from_tensors(v).repeat(v), 2, 2, 2),
    "windows": lambda: Data.range(17).window(4, 2, drop_remainder=True).flat_map(lambda w: w.batch(4)),
    "by threads": lambda: Data.range(40).map(lambda v: tf.reverse([v, v], [0]), num_parallel_calls=3).prefetch(3),
    "padded": lambda: Data.range(9).map(lambda v: (tf.fill([v], v), "s")).padded_batch(2, ([None], [])).repeat(2),
    "batches, mapped": lambda: Data.range(41).batch(4).map(lambda v: v + 1).map(lambda v: (v * 2, tf.as_string(v))),
    "batches taken apart": lambda: unbatched(Data.range(20).batch(3)).skip(2).take(15),
    "with a state": lambda: Data.range(9).apply(experimental.scan(np.int64(1), lambda s, v: (s + v, (s, v)))),
    "filtered": lambda: Data.range(30).filter(lambda v: tf.equal(v % 2, 0)).take(10),
}


def flat(value):
    return [np.asarray(leaf).tolist() for leaf in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("taken", [0, 1, 6])
def test_a_restored_iterator_goes_on_with_the_very_next_element(name, taken, tmp_path):
    iterator = tf.data.make_initializable_iterator(PIPELINES[name]())
    element = iterator.get_next()
    saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(taken):
            session.run(element)
        path = saver.save(session, str(tmp_path / "position"), write_meta_graph=False)
        assert [key for key, _ in tf.train.list_variables(path)] == [f"{iterator._iterator_resource.name}-state"]
        rest = [flat(value) for value in drain(session, element)]
    assert rest
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [flat(value) for value in drain(session, element)] == rest


def test_a_damaged_position_is_named():
    from tfexp.ops.dataset_state import decode, encode

    state = {"a": [1, None, True, 2.5, b"\x00\xff"], "b": np.arange(3.0), "c": np.array(b"text", object)}
    back = decode(encode(state), "it")
    assert back["a"] == state["a"]
    np.testing.assert_array_equal(back["b"], state["b"])
    assert back["c"][()] == b"text"
    data = encode(state)
    for bad in (b"", data[:10], b"\xff" * 40, data[:-3]):
        with pytest.raises(tf.errors.DataLossError, match="What is stored for the iterator 'it' is no position of one"):
            decode(bad, "it")


# --- files -------------------------------------------------------------------------------------------------------


def test_lines_of_files(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\r\n\nfour")
    (tmp_path / "b").write_bytes(b"five\n")
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert elements(tf.data.TextLineDataset(names)) == [b"one", b"two", b"", b"four", b"five"]
    assert elements(tf.data.TextLineDataset(names, num_parallel_reads=2)) == [b"one", b"five", b"two", b"", b"four"]


@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP"])
def test_records_of_compressed_files(kind, tmp_path):
    name = str(tmp_path / "records")
    with TFRecordWriter(name, kind) as writer:
        for i in range(5):
            writer.write(b"r" * i)
    assert elements(tf.data.TFRecordDataset(name, compression_type=kind)) == [b"r" * i for i in range(5)]


def test_records_of_one_length(tmp_path):
    name = tmp_path / "fixed"
    name.write_bytes(b"HH" + b"abcdefghi" + b"F")
    read = tf.data.FixedLengthRecordDataset(str(name), 3, header_bytes=2, footer_bytes=1)
    assert elements(read) == [b"abc", b"def", b"ghi"]
    (tmp_path / "zipped").write_bytes(zlib.compress(name.read_bytes()))
    zipped = tf.data.FixedLengthRecordDataset(
        str(tmp_path / "zipped"), 3, header_bytes=2, footer_bytes=1, compression_type="ZLIB"
    )
    assert elements(zipped) == [b"abc", b"def", b"ghi"]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"has body length 10 bytes, which is not an exact multiple"):
        elements(tf.data.FixedLengthRecordDataset(str(name), 3, header_bytes=2))


def test_a_missing_and_a_damaged_file(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere; No such file"):
        elements(tf.data.TextLineDataset(str(tmp_path / "nowhere")))
    good, bad = str(tmp_path / "good"), str(tmp_path / "bad")
    for name in (good, bad):
        with TFRecordWriter(name) as writer:
            for i in range(3):
                writer.write(b"record %d" % i)
    data = bytearray((tmp_path / "bad").read_bytes())
    data[-6] ^= 1
    (tmp_path / "bad").write_bytes(data)
    dataset = tf.data.TFRecordDataset([bad, good])
    with pytest.raises(tf.errors.DataLossError, match=r"bad: corrupted record at 48 \(record 2\)"):
        elements(dataset)
    kept = elements(dataset.apply(experimental.ignore_errors()))
    assert kept == [b"record 0", b"record 1", b"record 0", b"record 1", b"record 2"]


def test_a_branch_gives_a_tensor_from_outside_of_the_function():
    outside = tf.constant(7, tf.int64)

    def function(x):
        return tf.cond(x > 1, lambda: tf.cond(x > 2, lambda: outside, lambda: x), lambda: outside)

    assert numbers(tf.data.Dataset.range(5).map(function)) == [7, 7, 2, 7, 7]
