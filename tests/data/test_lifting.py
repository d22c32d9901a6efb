"""Functions that are mapped over blocks give what they give for single elements."""

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import elements, resumed, unbatched
from tfexp.ops.dataset_lift import OfBlocks
from tfexp.runtime.functions import BoundFunction

Data = tf.data.Dataset
ROWS = np.random.RandomState(5).uniform(-2, 2, (11, 3, 5)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def nested(v):
    inner = lambda: tf.cond(v[0, 1] > 0.0, lambda: v - 1.0, lambda: tf.zeros([3, 5]))  # noqa: E731
    return tf.cond(v[0, 0] > 0.0, inner, lambda: v * tf.reduce_max(v))


LIFTED = {
    "arithmetic": lambda v: tf.sqrt(v * v + 1.0) - tf.constant([1.0, 2.0, 3.0, 4.0, 5.0]),
    "reductions": lambda v: (tf.reduce_sum(v, 0), tf.reduce_max(v), tf.reduce_mean(v, -1, keepdims=True)),
    "reversed": lambda v: tf.reverse(v, [-1, 0]),
    "reversed without axes": lambda v: tf.reverse(v, np.zeros(0, np.int32)),
    "joined": lambda v: tf.concat([v, v * 2.0, v], -1),
    "sliced": lambda v: (v[1], v[:, -1], v[::-1, 1:4:2], v[..., 2], v[tf.newaxis, 0]),
    "stacked": lambda v: tf.stack([v[0], v[1]], 1),
    "turned": lambda v: tf.transpose(tf.reshape(v, [5, 3])),
    "a condition": lambda v: tf.cond(tf.reduce_sum(v) > 0.0, lambda: v * 2.0, lambda: v + 1.0),
    "a condition with constants": lambda v: tf.cond(v[0, 0] > 0.0, lambda: 3, lambda: 4),
    "conditions in conditions": nested,
}
SINGLY = {
    "a loop": lambda v: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [0, v])[1],
    "a loop that is the same for all": lambda v: v + tf.while_loop(lambda x: x < 20.0, lambda x: x + 3.0, [0.0]),
    "as many rounds as an element takes": lambda v: tuple(
        tf.while_loop(lambda i, x: tf.reduce_sum(x) < 20.0, lambda i, x: (i + 1, x + tf.abs(v)), [0, v])
    ),
    "a loop in a branch": lambda v: tf.cond(
        v[0, 0] > 0.0, lambda: tf.while_loop(lambda x: x[0, 0] < 3.0, lambda x: x + v[0, 0], [v]), lambda: v
    ),
    "another shape in each branch": lambda v: tf.reshape(tf.cond(v[0, 0] > 0.0, lambda: v[:2], lambda: v[:1]), [-1])[0],
    "no rule": lambda v: tf.unique(tf.reshape(v, [-1])).y,
}


def blocks(dataset):
    """Whether the data set's iterator gives blocks."""
    with tf.Session() as session:
        return session.run(dataset._variant_tensor).iterator().blocks


@pytest.mark.parametrize("name", [*LIFTED, *SINGLY])
def test_the_same_as_singly(name):
    function = {**LIFTED, **SINGLY}[name]
    mapped = Data.from_tensor_slices(ROWS).map(function)
    assert blocks(mapped) == (name in LIFTED)
    placeholder = tf.placeholder(tf.float32, [3, 5])
    expected = function(placeholder)
    with tf.Session() as session:
        wanted = [session.run(expected, {placeholder: row}) for row in ROWS]
    for found in (elements(mapped), [part for batch in elements(mapped.batch(4)) for part in rows_of(batch)]):
        for one, other in zip(found, wanted, strict=True):
            for a, b in zip(leaves(one), leaves(other), strict=True):
                assert np.shape(a) == np.shape(b)
                np.testing.assert_allclose(a, b, rtol=1e-6)


def leaves(value):
    return value if isinstance(value, tuple) else (value,)


def rows_of(batch):
    return list(zip(*batch, strict=True)) if isinstance(batch, tuple) else list(batch)


def test_an_error_in_a_branch_that_is_not_taken_is_none():
    safe = Data.range(-2, 3).map(lambda v: tf.cond(tf.equal(v, 0), lambda: v, lambda: 12 // v))
    assert elements(safe) == [-6, -12, 0, 12, 6]


def test_an_error_among_elements_that_are_mapped_together_comes_at_its_place():
    bad = Data.range(-2, 3).map(lambda v: tf.unique([12 // v]).y[0])
    iterator = tf.data.make_initializable_iterator(bad.batch(2))
    batch = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(batch).tolist() == [-6, -12]
        with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
            session.run(batch)
        assert session.run(batch).tolist() == [6]  # the batch fails as one


@pytest.fixture
def calls(monkeypatch):
    """How many elements each call of a lifted function got."""
    sizes = []
    call = OfBlocks.__call__
    monkeypatch.setattr(OfBlocks, "__call__", lambda self, block: sizes.append(len(block[0])) or call(self, block))
    return sizes


@pytest.mark.parametrize("drop", [False, True])
def test_small_batches_are_mapped_together(drop, calls):
    batches = Data.range(30).batch(4, drop_remainder=drop).map(lambda v: v + 1).map(lambda v: v * 2)
    wanted = [[2 * (i + 1) for i in range(first, min(first + 4, 30))] for first in range(0, 30, 4)]
    assert [batch.tolist() for batch in elements(batches)] == wanted[: 7 if drop else 8]
    assert sorted(set(calls)) == [1, 6]
    calls.clear()
    assert np.shape(elements(Data.range(32).batch(4).batch(2))) == (4, 2, 4)
    large = Data.from_tensor_slices(np.zeros((6, 100_000), np.float32)).batch(2).map(lambda v: v + 1)
    assert [batch[1, -1] for batch in elements(large)] == [1.0] * 3
    assert set(calls) == {1}


def test_an_error_in_batches_that_are_mapped_together_comes_at_its_place():
    iterator = tf.data.make_initializable_iterator(Data.range(-6, 6).batch(2).map(lambda v: 12 // v))
    batch = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(6):
            try:
                found.append(session.run(batch).tolist())
            except tf.errors.InvalidArgumentError:
                found.append("division by zero")
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(batch)
    assert found == [[-2, -3], [-3, -4], [-6, -12], "division by zero", [6, 4], [3, 2]]


def test_single_elements_of_blocks_are_mapped_together(calls):
    odd = Data.range(300).map(lambda v: v * v).filter(lambda v: v % 2 > 0)
    assert [int(v) for v in elements(odd)] == [v * v for v in range(1, 300, 2)]
    assert len(calls) < 20
    calls.clear()
    padded = Data.range(100).map(lambda v: tf.stack([v, v + 1])).padded_batch(30, [3], np.int64(-1))
    assert [batch[-1].tolist() for batch in elements(padded)] == [[v, v + 1, -1] for v in (29, 59, 89, 99)]
    assert len(calls) < 5


def test_an_error_in_a_filter_comes_at_its_place():
    iterator = tf.data.make_initializable_iterator(Data.range(-3, 9).filter(lambda v: 12 // v > 1))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
            session.run(element)
        assert [session.run(element) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_threads_map_small_batches_together(calls):
    batches = Data.range(400).batch(4).map(lambda v: tf.reduce_sum(v) // tf.maximum(v[0] - 100, 0), num_parallel_calls=2)
    iterator = tf.data.make_initializable_iterator(batches)
    element, errors, found = iterator.get_next(), 0, []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(100):
            try:
                found.append(int(session.run(element)))
            except tf.errors.InvalidArgumentError:
                errors += 1
    assert errors == 26
    assert found == [(4 * v + 6) // (v - 100) for v in range(104, 400, 4)]


def test_batches_of_examples_are_parsed_together(calls):
    def example(i):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5]))}
        feature["name"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"number %d" % i]))
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    features = {"x": tf.FixedLenFeature([2, 1], tf.float32), "name": tf.FixedLenFeature([], tf.string)}
    records = Data.from_tensor_slices([example(i) for i in range(13)])
    batches = elements(records.batch(5).map(lambda batch: tf.parse_example(batch, features)))
    assert [len(batch["name"]) for batch in batches] == [5, 5, 3]
    assert np.concatenate([batch["name"] for batch in batches]).tolist() == [b"number %d" % i for i in range(13)]
    np.testing.assert_array_equal(np.concatenate([b["x"] for b in batches])[:, :, 0], [[i, i + 0.5] for i in range(13)])
    assert calls


def test_a_position_between_elements_that_were_taken_together(tmp_path):
    def build():
        return unbatched(Data.range(150).map(lambda v: tf.unique([v]).y[0]).batch(7))

    assert resumed(build, 80, tmp_path) == list(range(80, 150))


def test_a_function_is_planned_once_however_often_its_data_set_begins(monkeypatch):
    planned = []
    binds = BoundFunction.__init__

    def noted(self, function, *others):
        planned.append(function.name)
        binds(self, function, *others)

    monkeypatch.setattr(BoundFunction, "__init__", noted)

    def doubled(first):
        return tf.data.Dataset.range(first, first + 2).map(lambda x: x * 2)

    counts = []
    for times in (5, 50):
        planned.clear()
        dataset = tf.data.Dataset.range(times).flat_map(doubled)
        assert elements(dataset) == [2 * (first + i) for first in range(times) for i in range(2)]
        counts.append(len(planned))
    assert counts[0] == counts[1] < 10


def test_random_numbers_begin_anew_with_each_data_set():
    def drawn(_):
        return tf.data.Dataset.range(2).map(lambda x: tf.random.uniform([], seed=3))

    tf.set_random_seed(1)
    pairs = elements(tf.data.Dataset.range(3).flat_map(drawn).batch(2))
    assert len({tuple(pair) for pair in pairs}) == 1
    assert len(set(pairs[0])) == 2


DRAWS = {
    "uniform": lambda: tf.random.uniform([3], seed=3),
    "uniform doubles": lambda: tf.random.uniform([2, 3], seed=3, dtype=tf.float64),
    "integers": lambda: tf.random.uniform([5], -7, 9, seed=3, dtype=tf.int32),
    "long integers": lambda: tf.random.uniform([3], 0, 1 << 40, seed=3, dtype=tf.int64),
    "normal": lambda: tf.random.normal([], seed=3),
    "normal halves": lambda: tf.random.normal([6], 2.0, seed=3, dtype=tf.float16),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_of_blocks_are_those_of_runs(name):
    tf.set_random_seed(7)
    drawn = DRAWS[name]()
    mapped = Data.range(9).map(lambda x: DRAWS[name]())
    assert blocks(mapped)
    with tf.Session() as session:
        wanted = np.array([session.run(drawn) for _ in range(9)])
    np.testing.assert_array_equal(np.concatenate(elements(mapped.batch(4))), wanted)
    np.testing.assert_array_equal(elements(mapped), wanted)


SINGLY_DRAWN = {
    "in a branch": lambda x: tf.cond(x > 2, lambda: tf.random.uniform([], seed=3), lambda: 0.5),
    "in a loop": lambda x: tf.while_loop(
        lambda i, s: i < 2, lambda i, s: (i + 1, s + tf.random.uniform([], seed=3)), [0, 0.0]
    )[1],
    "of an element's shape": lambda x: tf.reduce_sum(tf.random.uniform(tf.stack([x + 1]), seed=3)),
    "between bounds that leave nothing": lambda x: tf.random.uniform([], 5, 5, seed=3, dtype=tf.int64),
    "drawn again where they lie too far out": lambda x: tf.random.truncated_normal([], seed=3),
}


@pytest.mark.parametrize("name", SINGLY_DRAWN)
def test_what_draws_as_it_likes_is_called_for_each_element(name):
    assert not blocks(Data.range(9).map(SINGLY_DRAWN[name]))


def noisy(x):
    return x, tf.random.uniform([], seed=3)


def test_elements_that_are_mapped_again_one_by_one_draw_the_same():
    def drawn(singly):
        def failing(x):
            return tf.random.uniform([], seed=3), 12 // (tf.unique([x]).y[0] if singly else x)

        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(7)
            batches = tf.data.make_initializable_iterator(Data.range(-2, 14).map(failing).batch(8))
            batch = batches.get_next()
            session.run(batches.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
                session.run(batch)
            return session.run(batch)[0].tolist()

    assert drawn(False) == drawn(True)


@pytest.mark.parametrize(
    "ends_early",
    [
        lambda noise: Data.zip((noise, Data.range(3))).map(lambda n, i: n),
        lambda noise: noise.map(lambda x, n: (tf.unique([x]).y[0], n)).take(3),
        lambda noise: noise.shard(5, 0).take(1).concatenate(noise.take(2)),
    ],
    ids=["zip", "called for each", "shard"],
)
def test_no_more_is_drawn_than_is_needed(ends_early):
    def drawn(singly):
        tf.set_random_seed(7)
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            noise = Data.range(40).map(lambda x: noisy(tf.unique([x]).y[0] if singly else x))
            assert blocks(noise) != singly
            return elements(unbatched(ends_early(noise).batch(2)).repeat(3))

    assert drawn(False) == drawn(True)
