"""rejection_sample, stratified_sample, resample_at_rate, weighted_resample and parse_values of tf.contrib.training."""

import numpy as np
import pytest

import tfexp as tf

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def some(fetches, times):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            return [session.run(fetches) for _ in range(times)]
        finally:
            coordinator.request_stop()
            coordinator.join(threads)  # raises what a thread failed with


def test_examples_are_accepted_by_chance():
    which = tf.range(4)
    numbers, squares = training.rejection_sample(
        [which, which * which], lambda one: tf.cast(one[0] % 2, tf.float32), 5, enqueue_many=True, runtime_checks=True
    )
    assert numbers.shape == squares.shape == [5] and numbers.op.name.startswith("rejection_sample/batch")
    for got, squared in some([numbers, squares], 2):
        assert set(got) <= {1, 3} and (squared == got**2).all()


def test_probabilities_are_checked():
    one = training.rejection_sample([tf.constant([1.0])], lambda _: tf.random_uniform([], 2, 3), 2, runtime_checks=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="<="):
        some(one, 1)


@pytest.mark.parametrize("known", [[0.75, 0.25, 0.0], None])
def test_classes_come_as_often_as_wanted(known):
    labels = tf.constant([0, 0, 0, 1])
    (data,), classes = training.stratified_sample(
        [tf.cast(labels, tf.float32) + 0.5], labels, [0.25, 0.75, 0.0], 50, known, enqueue_many=True
    )
    ((data, classes),) = some([data, classes], 1)
    assert 0.55 < classes.mean() < 0.92
    np.testing.assert_array_equal(data, classes + 0.5)


def test_classes_of_single_examples():
    label = tf.random_uniform([], 0, 2, tf.int32, seed=1)
    (data,), classes = training.stratified_sample([tf.stack([label, label])], label, [0.0, 1.0], 3)
    assert data.shape == [3, 2] and classes.dtype == tf.int32
    assert [v.op.name for v in tf.local_variables()] == ["stratified_sample/class_count"]
    for drawn, kinds in some([data, classes], 2):
        assert (kinds == 1).all() and (drawn == 1).all()


def test_probabilities_of_other_classes_are_refused():
    with pytest.raises(ValueError, match="must have the same length"):
        training.stratified_sample([tf.constant(1.0)], tf.constant(1), [0.5, 0.5], 3, [0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match="rank 1"):
        training.stratified_sample([tf.constant(1.0)], tf.constant(1), [[0.5]], 3)
    missing = training.stratified_sample([tf.constant(1.0)], tf.constant(1), [1.0, 0.0], 3, [0.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not come"):
        some(missing, 1)


def test_rows_as_often_as_rates_say():
    rows = tf.reshape(tf.range(6.0), [3, 2])
    taken, names = training.resample_at_rate([rows, tf.constant(["a", "b", "c"])], [2.0, 0.0, 0.5], seed=3)
    counts = np.zeros(3)
    for got, letters in some([taken, names], 200):
        assert [b"abc"[int(x) // 2 : int(x) // 2 + 1] for x in got[:, 0]] == list(letters)
        counts += np.bincount(got[:, 0].astype(int) // 2, minlength=3)
    assert abs(counts[0] / 200 - 2) < 0.3 and counts[1] == 0 and abs(counts[2] / 200 - 0.5) < 0.15


def test_rows_as_often_as_weights_say():
    weights = tf.constant([1.0, 2.0, 3.0])
    (taken,), rates = training.weighted_resample([weights], weights, 2.0, seed=5)
    seen = some([taken, rates], 60)
    for got, at in seen:
        np.testing.assert_allclose(at, got, rtol=1e-3)  # the weights' mean is 2, the overall rate, too
    assert 4.5 < np.mean([len(got) for got, _ in seen]) < 7.5


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a=1,b=2.5", {"a": 1, "b": 2.5}),
        ("a=[1,2],c=hi there", {"a": [1, 2], "c": "hi there"}),
        ("a[1]=3,a[3]=4", {"a": {1: 3, 3: 4}}),
        ("d = true , b=[]", {"d": True, "b": []}),
    ],
)
def test_texts_of_values(text, wanted):
    assert training.parse_values(text, {"a": int, "b": float, "c": str, "d": bool}) == wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a=1,a=2", "Multiple assignments to variable 'a'"),
        ("a[1]=3,a[1]=4", "Multiple assignments to variable 'a\\[1\\]'"),
        ("a[1]=[1,2]", "Assignment of a list to a list index"),
        ("a=1.5", "Could not parse hparam 'a' of type 'int' with value '1.5'"),
        ("a=[1,", "Malformed hyperparameter value: a=\\[1,"),
        ("z=3", "Unknown hyperparameter type for z"),
    ],
)
def test_texts_that_are_refused(text, says):
    with pytest.raises(ValueError, match=says):
        training.parse_values(text, {"a": int})


def test_names_without_a_type_may_be_left_out():
    assert training.parse_values("z=3,a=2", {"a": int}, ignore_unknown=True) == {"a": 2}
    with pytest.raises(ValueError, match="Must pass a list for multi-valued parameter: l"):
        training.HParams(l=[1, 2]).parse("l=4")
