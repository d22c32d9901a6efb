"""tf.data.experimental beyond what the golden programs show: errors, positions that are saved, other paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexp as tf
from tests.data.running import elements, numbers, resumed
from tfexp.data import experimental

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# --- nothing is lost, nothing comes twice ------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(1, 5), st.booleans())
def test_windows_have_every_element_once_in_its_order(values, size, batches):
    with tf.Graph().as_default():
        source = Data.from_tensor_slices(np.array(values, np.int64).reshape(-1)).enumerate()
        grouped = source.apply(
            experimental.group_by_window(
                lambda number, value: value,
                lambda key, window: window.batch(size) if batches else window,
                window_size=size,
            )
        )
        found = elements(grouped)
        if batches:
            assert all(len(set(batch[1].tolist())) == 1 and len(batch[0]) <= size for batch in found)
            found = [pair for batch in found for pair in zip(*batch, strict=True)]
        assert sorted(int(number) for number, _ in found) == list(range(len(values)))
        for key in set(values):
            assert [int(n) for n, v in found if v == key] == [n for n, v in enumerate(values) if v == key]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=25), st.integers(1, 4))
def test_buckets_have_every_sequence_once(lengths, size):
    with tf.Graph().as_default():
        source = Data.from_tensor_slices(np.array(lengths, np.int64)).map(lambda n: tf.fill([n], n))
        bucket = experimental.bucket_by_sequence_length(lambda v: tf.shape(v)[0], [3, 6], [size, size + 1, 2])
        found = [sorted({0, *row}) for batch in elements(source.apply(bucket)) for row in batch.tolist()]
        assert sorted(row[-1] for row in found) == sorted(lengths)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(0, 99))
def test_a_mixture_has_every_element_of_its_parts_in_order(sizes, seed):
    with tf.Graph().as_default():
        parts = [Data.range(100 * i, 100 * i + size) for i, size in enumerate(sizes)]
        found = numbers(experimental.sample_from_datasets(parts, [1.0 / len(parts)] * len(parts), seed=seed))
        assert sorted(found) == [100 * i + n for i, size in enumerate(sizes) for n in range(size)]
        for i in range(len(sizes)):
            own = [n for n in found if n // 100 == i]
            assert own == sorted(own)


def test_resampling_reaches_the_distribution_that_is_wanted():
    classes = Data.range(4000).map(lambda v: tf.cast(v % 10 > 0, tf.int32))
    for initial in ([0.1, 0.9], None):
        resample = experimental.rejection_resample(lambda c: c, [0.5, 0.5], initial, seed=3)
        found = numbers(classes.repeat(3).apply(resample).map(lambda c, v: c))
        assert abs(np.mean(found[-800:]) - 0.5) < 0.07


@pytest.mark.parametrize(
    ("target", "found"),
    [([0.5, 0.5], [[0, 0], [1, 1], [0, 2], [1, 3], [0, 4]]), ([0.0, 1.0], [[1, 1], [1, 3]])],
)
def test_resampling_of_all_or_none_ends_with_the_data(target, found):
    resample = experimental.rejection_resample(lambda v: tf.cast(v % 2, tf.int32), target, [0.5, 0.5], seed=1)
    assert numbers(Data.range(5).apply(resample)) == found


# --- positions ---------------------------------------------------------------------------------------------------


def _chains():
    reducer = experimental.Reducer(lambda k: np.int64(0), lambda s, v: s + v, lambda s: s)
    return {
        "windows": lambda d: d.apply(experimental.group_by_window(lambda v: v % 3, lambda k, w: w, 3)),
        "batches of windows": lambda d: d.apply(
            experimental.group_by_window(lambda v: v % 2, lambda k, w: w.repeat(2).batch(2), 4)
        ).unbatch(),
        "reduced": lambda d: d.apply(experimental.group_by_reducer(lambda v: v % 7, reducer)),
        "unique": lambda d: d.map(lambda v: v // 2).apply(experimental.unique()),
        "mixture": lambda d: experimental.sample_from_datasets([d, d.map(lambda v: -v)], [0.3, 0.7], seed=1),
        "chosen": lambda d: experimental.choose_from_datasets([d, d], d.map(lambda v: v % 2)),
        "random": lambda d: experimental.RandomDataset(seed=4).take(20),
        "counter": lambda d: experimental.Counter(3, 4).take(20),
        "map and batch": lambda d: d.apply(experimental.map_and_batch(lambda v: v + 1, 3)).unbatch(),
        "shuffle and repeat": lambda d: d.apply(experimental.shuffle_and_repeat(5, 2, seed=1)),
        "sparse": lambda d: d.map(lambda v: tf.SparseTensor([[v % 5]], [v], [5])).map(lambda s: s.values[0]).prefetch(2),
        "shuffled sparse": lambda d: (
            d.map(lambda v: tf.SparseTensor([[v % 5]], [v], [5])).shuffle(4, seed=2).map(lambda s: s.values[0])
        ),
        "options": lambda d: d.map(experimental.Optional.from_value).shuffle(4, seed=2).map(lambda o: o.get_value()),
        "interleaved": lambda d: d.take(5).apply(experimental.parallel_interleave(lambda v: Data.range(v), 2, 2)),
        "the same twice": lambda d: Data.zip((d.shuffle(5, seed=1),) * 2).map(lambda a, b: a - b).repeat(2),
    }


@pytest.mark.parametrize("name", list(_chains()))
@pytest.mark.parametrize("position", [0, 1, 5])
def test_goes_on_where_it_was_saved(name, position, tmp_path):
    def build():
        return _chains()[name](Data.range(13))

    whole = numbers(build())
    assert resumed(build, position, tmp_path) == whole[position:]


# --- what cannot be ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: experimental.group_by_window(len, len), ValueError, "Must pass either window_size"),
        (
            lambda: Data.range(3).apply(experimental.group_by_window(lambda v: v, lambda k, w: k, 2)),
            TypeError,
            "reduce_func",
        ),
        (
            lambda: Data.range(3).apply(experimental.group_by_window(lambda v: [v], lambda k, w: w, 2)),
            ValueError,
            "`key_func` must return a single tf.int64 scalar tensor. Got type",
        ),
        (lambda: experimental.bucket_by_sequence_length(len, [3], [1]), ValueError, "but they are 1 and 1"),
        (lambda: experimental.sample_from_datasets([]), ValueError, "should not be empty"),
        (
            lambda: experimental.sample_from_datasets([Data.range(2)], [0.5, 0.5]),
            ValueError,
            "a vector of length `len.datasets.`. That is 1",
        ),
        (
            lambda: experimental.sample_from_datasets([Data.range(2), Data.from_tensors("a")]),
            TypeError,
            "All datasets must have the same type and class",
        ),
        (
            lambda: experimental.choose_from_datasets([Data.range(2)], Data.from_tensors("a")),
            TypeError,
            "`choice_dataset` must be a dataset of scalar",
        ),
        (lambda: Data.from_tensors(1.0).apply(experimental.unique()), TypeError, "only supports inputs with a single"),
        (lambda: Data.from_tensors((1, 2)).apply(experimental.unique()), TypeError, "only supports inputs with a single"),
        (
            lambda: experimental.map_and_batch(len, 2, num_parallel_batches=1, num_parallel_calls=1),
            ValueError,
            "arguments are mutually exclusive",
        ),
        (lambda: Data.from_tensors((1, 2)).apply(experimental.dense_to_sparse_batch(2, [3])), TypeError, "single component"),
        (lambda: tf.data.Options().__setattr__("fast", True), AttributeError, "Cannot set the property fast"),
        (lambda: tf.data.Options().__setattr__("experimental_slack", 3), TypeError, "must be of type"),
    ],
)
def test_what_cannot_be_is_said_when_it_is_built(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (
            lambda: Data.range(6).apply(
                experimental.group_by_window(lambda v: v % 2, lambda k, w: w, window_size_func=lambda k: k)
            ),
            tf.errors.InvalidArgumentError,
            "Window size must be greater than zero, but got 0.",
        ),
        (
            lambda: experimental.choose_from_datasets([Data.range(3)], Data.range(1, 2)),
            tf.errors.InvalidArgumentError,
            "Selector index out of range: 1 >= 1",
        ),
        (
            lambda: Data.range(2, 4).map(lambda v: tf.fill([v], 1)).apply(experimental.dense_to_sparse_batch(2, [1])),
            tf.errors.DataLossError,
            r"shape \(\[2\]\) that is larger than the row shape \(\[1\]\)",
        ),
        (
            lambda: Data.range(2).map(lambda v: tf.ones([v, 1])).apply(experimental.dense_to_sparse_batch(2, [1])),
            tf.errors.InvalidArgumentError,
            "incompatible with the row shape",
        ),
        (
            lambda: (
                Data.range(1)
                .map(lambda v: experimental.Optional.none_from_structure(experimental.get_structure(Data.range(1))))
                .map(lambda o: o.get_value())
            ),
            tf.errors.InvalidArgumentError,
            "The given optional does not have a value",
        ),
        (
            lambda: _long_sequence(),
            tf.errors.InvalidArgumentError,
            "must have length < max.bucket_boundaries.",
        ),
    ],
)
def test_what_cannot_work_is_said_when_it_runs(build, kind, message):
    with pytest.raises(kind, match=message):
        elements(build())


def _long_sequence():
    bucket = experimental.bucket_by_sequence_length(lambda v: tf.shape(v)[0], [3], [1, 1], pad_to_bucket_boundary=True)
    return Data.range(7, 8).map(lambda v: tf.fill([v], v)).apply(bucket)


def test_options_are_kept_and_merged():
    first, second = tf.data.Options(), tf.data.Options()
    first.experimental_threading.private_threadpool_size = 3
    first.experimental_slack = True
    second.experimental_distribute.auto_shard = False
    data = Data.range(3).with_options(first).map(lambda v: v).with_options(second)
    assert data.options().experimental_threading.private_threadpool_size == 3
    assert data.options().experimental_slack is True
    assert data.options().experimental_distribute.auto_shard is False
    assert Data.zip((Data.range(2), data)).options() == data.options()
    assert tf.data.Options() == tf.data.Options() != first
    second.experimental_slack = False
    with pytest.raises(ValueError, match=r"incompatible values .True and False. of option: experimental_slack"):
        data.with_options(second)
    with pytest.raises(TypeError, match="Incompatible options type"):
        first.merge(3)


def test_what_is_mapped_has_as_many_elements_as_before():
    data = Data.range(10)
    noisy = data.map(lambda v: (v, tf.random.uniform([]))).batch(4)
    counted = [data.map(lambda v: v), data.map(lambda v: v, num_parallel_calls=2), noisy]
    with tf.Session() as session:
        assert session.run([experimental.cardinality(one) for one in counted]) == [10, 10, 3]


@pytest.mark.parametrize(
    ("transform", "op_type"),
    [
        (lambda d: d.batch([1, 2]), "BatchDatasetV2"),
        (lambda d: d.batch(tf.placeholder(tf.int64, [2])), "BatchDatasetV2"),
        (lambda d: d.padded_batch([1, 2], []), "PaddedBatchDatasetV2"),
        (lambda d: d.repeat([1, 2]), "RepeatDataset"),
        (lambda d: d.shuffle([1, 2]), "ShuffleDataset"),
        (lambda d: d.shard([1, 2], 0), "ShardDataset"),
        (lambda d: d.window([1, 2]), "WindowDataset"),
        (lambda d: tf.data.Dataset.range([1, 2]), "RangeDataset"),
    ],
)
def test_counts_are_scalars_when_built(transform, op_type):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=rf"must be rank 0 but is rank 1 .*\(op: '{op_type}'\)"):
        transform(tf.data.Dataset.range(3))
