"""`tf.estimator.inputs`: arrays by rows, through a queue."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import tfexp as tf

numpy_input_fn = tf.estimator.inputs.numpy_input_fn
ROWS = np.arange(5, dtype=np.float32)


def read(input_fn: Any) -> list[Any]:
    tensors, found = input_fn(), []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(tensors))
    return found


def test_epochs_follow_one_another_within_a_batch() -> None:
    found = read(numpy_input_fn(ROWS, ROWS.astype(int), batch_size=4, num_epochs=2, shuffle=False))
    assert [labels.tolist() for _, labels in found] == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]
    assert all(np.array_equal(features, labels) for features, labels in found)


def test_shuffling_gives_every_row_once() -> None:
    tf.set_random_seed(7)
    found = read(numpy_input_fn({"a": ROWS}, {"b": ROWS}, batch_size=2, shuffle=True, queue_capacity=8))
    seen = np.concatenate([features["a"] for features, _ in found])
    assert sorted(seen) == ROWS.tolist()
    assert np.array_equal(seen, np.concatenate([labels["b"] for _, labels in found]))


def test_the_nodes_are_tensorflows() -> None:
    features = numpy_input_fn({"b": np.zeros((3, 2)), "a": np.array(["x", "y", "z"])}, shuffle=False, num_epochs=None)()
    assert (features["a"].dtype, features["b"].shape.as_list()) == (tf.string, [128, 2])
    assert [features[key].name for key in "ab"] == ["fifo_queue_DequeueMany:1", "fifo_queue_DequeueMany:2"]
    (summary,) = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert summary.op.name == "enqueue_input/queue/enqueue_input/fifo_queuefraction_over_0_of_1000_full"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": ROWS}, ValueError, "shuffle must be provided and explicitly set as boolean"),
        ({"x": 3, "shuffle": False}, TypeError, "x must be a dict or array; got int"),
        ({"x": {"a": [1]}, "shuffle": False}, TypeError, r"x\['a'\] must be an array; got list"),
        ({"x": {}, "shuffle": False}, ValueError, "x cannot be an empty dict"),
        ({"x": ROWS, "y": {}, "shuffle": False}, ValueError, "y cannot be empty dict, use None instead"),
        ({"x": {"a": ROWS}, "y": {"a": ROWS}, "shuffle": False}, ValueError, r"1 duplicate keys .*: \['a'\]"),
        (
            {"x": {"a": ROWS}, "y": ROWS[:3], "shuffle": False},
            ValueError,
            r"Shapes in x: {'a': \(5,\)}\nShapes in y: \(3,\)",
        ),
    ],
)
def test_what_is_no_table_is_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        numpy_input_fn(**arguments)()


class Column:
    """As much of a pandas.Series as is needed: pandas need not be installed."""

    def __init__(self, values: Any, index: Any = None):
        self.values, self.index = np.asarray(values), index

    def to_numpy(self) -> Any:
        return self.values


class Index(tuple):  # type: ignore[type-arg]
    def equals(self, other: Any) -> bool:
        return self == other


class Frame:
    def __init__(self, columns: dict[str, Any]):
        self.columns = {name: Column(values) for name, values in columns.items()}
        self.index = Index(range(len(next(iter(columns.values())))))

    def items(self) -> Any:
        return self.columns.items()


def test_data_frames_are_read_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = types.ModuleType("pandas")
    pandas.DataFrame = Frame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    pandas_input_fn = tf.estimator.inputs.pandas_input_fn
    frame, labels = Frame({"a": ROWS, "b": list("vwxyz")}), Column(ROWS, Index(range(5)))
    ((features, targets),) = read(pandas_input_fn(frame, labels, shuffle=False))
    assert (features["a"].tolist(), features["b"].tolist()) == (ROWS.tolist(), [b"v", b"w", b"x", b"y", b"z"])
    assert targets.tolist() == ROWS.tolist()
    with pytest.raises(ValueError, match="x has columns of that name"):
        pandas_input_fn(frame, labels, shuffle=False, target_column="a")
    with pytest.raises(ValueError, match="Index for x and y are mismatched"):
        pandas_input_fn(frame, Column(ROWS, Index(range(1, 6))), shuffle=False)
    with pytest.raises(TypeError, match=r"x must be a pandas\.DataFrame; got ndarray"):
        pandas_input_fn(ROWS, shuffle=False)


def test_a_queue_runner_feeds_what_functions_give():
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(5, tf.int32, shapes=[()])
        number = tf.placeholder(tf.int32, [])
        counted = iter(range(3))

        def feed():
            value = next(counted, None)
            if value is None:
                raise tf.errors.OutOfRangeError(None, None, "that was all")
            return {number: value}

        runner = tf.contrib.training.FeedingQueueRunner(queue, [queue.enqueue(number)], feed_fns=[feed])
        assert runner.queue_closed_exception_types == (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        taken = queue.dequeue()
        with tf.Session() as session:
            threads = runner.create_threads(session, start=True)
            assert [session.run(taken) for _ in range(3)] == [0, 1, 2]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(taken)
            for thread in threads:
                thread.join()
        with pytest.raises(ValueError, match="same length as enqueue_ops"):
            tf.contrib.training.FeedingQueueRunner(queue, [taken.op], feed_fns=[feed, feed])
