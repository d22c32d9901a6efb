"""tf.data.experimental beyond what the golden programs show: errors, positions that are saved, other paths."""

import pytest

import tfexp as tf
from tests.data.running import numbers, resumed, unbatched
from tfexp.data import experimental

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# --- positions ---------------------------------------------------------------------------------------------------


def _chains():
    return {
        "map and batch": lambda d: unbatched(d.apply(experimental.map_and_batch(lambda v: v + 1, 3))),
        "shuffle and repeat": lambda d: d.apply(experimental.shuffle_and_repeat(5, 2, seed=1)),
        "sparse": lambda d: d.map(lambda v: tf.SparseTensor([[v % 5]], [v], [5])).map(lambda s: s.values[0]).prefetch(2),
        "shuffled sparse": lambda d: (
            d.map(lambda v: tf.SparseTensor([[v % 5]], [v], [5])).shuffle(4, seed=2).map(lambda s: s.values[0])
        ),
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
        (
            lambda: experimental.map_and_batch(len, 2, num_parallel_batches=1, num_parallel_calls=1),
            ValueError,
            "arguments are mutually exclusive",
        ),
        (lambda: tf.data.Options().__setattr__("fast", True), AttributeError, "Cannot set the property fast"),
        (lambda: tf.data.Options().__setattr__("experimental_deterministic", 3), TypeError, "must be of type"),
        (lambda: tf.data.Options().experimental_slack, AttributeError, "experimental_slack"),
        (lambda: tf.data.Options().experimental_threading.__setattr__("threads", 3), AttributeError, "threads"),
    ],
)
def test_what_cannot_be_is_said_when_it_is_built(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


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
