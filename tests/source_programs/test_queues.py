"""What chapter 12 prints of queues (2.6), of data read by the graph (2.7), and of time limits.

Which elements a shuffling queue gives first is chance: there the sets are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.source_programs.printed import Printed, dedent


def test_a_fifo_queue(tf: Any, out: Printed) -> None:
    q = tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[[2]], name="q", shared_name="shared_q")
    training_instance = tf.placeholder(tf.float32, shape=(2))
    enqueue = q.enqueue([training_instance])
    training_instances = tf.placeholder(tf.float32, shape=(None, 2))
    enqueue_many = q.enqueue_many([training_instances])
    dequeue_mini_batch = q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(enqueue, feed_dict={training_instance: [1.0, 2.0]})
        sess.run(enqueue_many, feed_dict={training_instances: [[3.0, 4.0], [5.0, 6.0]]})
        print(sess.run(dequeue_mini_batch))
        with pytest.raises(tf.errors.DeadlineExceededError):  # the source: "blocked waiting for another instance"
            sess.run(dequeue_mini_batch, options=tf.RunOptions(timeout_in_ms=50))
    assert out.lines == dedent("""
        [[1. 2.]
         [3. 4.]]
    """)


def test_queues_of_tuples(tf: Any, out: Printed) -> None:
    q = tf.FIFOQueue(capacity=10, dtypes=[tf.int32, tf.float32], shapes=[[], [3, 2]], name="q", shared_name="shared_q")
    a = tf.placeholder(tf.int32, shape=())
    b = tf.placeholder(tf.float32, shape=(3, 2))
    enqueue = q.enqueue((a, b))
    dequeue_a, dequeue_b = q.dequeue()
    with tf.Session() as sess:
        sess.run(enqueue, feed_dict={a: 10, b: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
        sess.run(enqueue, feed_dict={a: 11, b: [[2.0, 4.0], [6.0, 8.0], [0.0, 2.0]]})
        sess.run(enqueue, feed_dict={a: 12, b: [[3.0, 6.0], [9.0, 2.0], [5.0, 8.0]]})
        a_val, b_val = sess.run([dequeue_a, dequeue_b])
        print(a_val)
        print(b_val)
        dequeue_as, dequeue_bs = q.dequeue_many(2)
        a_vals, b_vals = sess.run([dequeue_as, dequeue_bs])
        print(a_vals)
        print(b_vals)
    assert out.lines == dedent("""
        10
        [[1. 2.]
         [3. 4.]
         [5. 6.]]
        [11 12]
        [[[2. 4.]
          [6. 8.]
          [0. 2.]]

         [[3. 6.]
          [9. 2.]
          [5. 8.]]]
    """)


def test_a_closed_queue(tf: Any) -> None:
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    fill, close_q = q.enqueue_many([[1.0, 2.0, 3.0]]), q.close()
    with tf.Session() as sess:
        sess.run(fill)
        sess.run(close_q)
        with pytest.raises(tf.errors.CancelledError):
            sess.run(fill)
        assert sess.run(q.dequeue_many(2)).tolist() == [1.0, 2.0]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(q.dequeue_many(2))
        assert sess.run(q.dequeue_up_to(2)).tolist() == [3.0]


def test_a_shuffling_queue(tf: Any) -> None:
    q = tf.RandomShuffleQueue(
        capacity=50, min_after_dequeue=10, dtypes=[tf.float32], shapes=[()], name="q", shared_name="shared_q"
    )
    fill = q.enqueue_many([np.arange(1.0, 23.0, dtype=np.float32)])
    dequeue = q.dequeue_many(5)
    with tf.Session() as sess:
        sess.run(fill)
        found = np.concatenate([sess.run(dequeue), sess.run(dequeue)])
        assert len(set(found)) == 10 and set(found) <= set(range(1, 23))
        assert sess.run(q.size()) == 12
        with pytest.raises(tf.errors.DeadlineExceededError):  # "12 - 5 < 10: blocked waiting for 3 more instances"
            sess.run(dequeue, options=tf.RunOptions(timeout_in_ms=50))


def test_a_padding_queue(tf: Any, out: Printed) -> None:
    q = tf.PaddingFIFOQueue(capacity=50, dtypes=[tf.float32], shapes=[(None, None)], name="q", shared_name="shared_q")
    v = tf.placeholder(tf.float32, shape=(None, None))
    enqueue = q.enqueue([v])
    dequeue = q.dequeue_many(3)
    with tf.Session() as sess:
        sess.run(enqueue, feed_dict={v: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
        sess.run(enqueue, feed_dict={v: [[1.0]]})
        sess.run(enqueue, feed_dict={v: [[7.0, 8.0, 9.0, 5.0], [6.0, 7.0, 8.0, 9.0]]})
        print(sess.run(dequeue))
    assert out.lines == dedent("""
        [[[1. 2. 0. 0.]
          [3. 4. 0. 0.]
          [5. 6. 0. 0.]]

         [[1. 0. 0. 0.]
          [0. 0. 0. 0.]
          [0. 0. 0. 0.]]

         [[7. 8. 9. 5.]
          [6. 7. 8. 9.]
          [0. 0. 0. 0.]]]
    """)


def test_preloaded_data(tf: Any) -> None:
    n_features = 3
    training_set_init = tf.placeholder(tf.float32, shape=(None, n_features))
    # As the source has it, TensorFlow refuses: a variable's shape has to be known, or not to matter.
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(training_set_init, trainable=False, collections=[], name="training_set")
    training_set = tf.Variable(training_set_init, trainable=False, collections=[], name="training_set", validate_shape=False)
    data = np.arange(15, dtype=np.float32).reshape(5, 3)
    with tf.Session() as sess:
        sess.run(training_set.initializer, feed_dict={training_set_init: data})
        assert sess.run(training_set).tolist() == data.tolist()
    assert tf.global_variables() == [] and tf.trainable_variables() == []


CSV = "x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n"


def _needs_decode_csv(tf: Any) -> None:
    if not hasattr(tf, "decode_csv"):
        pytest.skip("tf.decode_csv is not there yet")


def _instances(tf: Any, shown: list[Any]) -> list[tuple[float, float, int]]:
    return sorted(
        (float(f[0]), float(f[1]), int(t)) for features, targets in shown for f, t in zip(features, targets, strict=True)
    )


EXPECTED = [(1.0, -1.0, 0), (4.0, 5.0, 1), (7.0, 8.0, 0)]


def _read_and_push_instance(tf: Any, filename_queue: Any, instance_queue: Any) -> Any:
    reader = tf.TextLineReader(skip_header_lines=1)
    _, value = reader.read(filename_queue)
    x1, x2, target = tf.decode_csv(value, record_defaults=[[-1.0], [-1.0], [-1]])
    features = tf.stack([x1, x2])
    return instance_queue.enqueue([features, target])


def _input_graph(tf: Any) -> tuple[Any, Any, Any, Any, Any]:
    filename_queue = tf.FIFOQueue(capacity=10, dtypes=[tf.string], shapes=[()])
    filename = tf.placeholder(tf.string)
    enqueue_filename = filename_queue.enqueue([filename])
    instance_queue = tf.RandomShuffleQueue(
        capacity=10,
        min_after_dequeue=2,
        dtypes=[tf.float32, tf.int32],
        shapes=[[2], []],
        name="instance_q",
        shared_name="shared_instance_q",
    )
    return filename_queue, filename, enqueue_filename, filename_queue.close(), instance_queue


def test_readers_the_old_way(tf: Any, tmp_path: Path) -> None:
    _needs_decode_csv(tf)
    (tmp_path / "my_test.csv").write_text(CSV)
    filename_queue, filename, enqueue_filename, close_filename_queue, instance_queue = _input_graph(tf)
    enqueue_instance = _read_and_push_instance(tf, filename_queue, instance_queue)
    close_instance_queue = instance_queue.close()
    minibatch = list(instance_queue.dequeue_up_to(2))
    shown = []
    with tf.Session() as sess:
        sess.run(enqueue_filename, feed_dict={filename: str(tmp_path / "my_test.csv")})
        sess.run(close_filename_queue)
        for _ in range(3):
            sess.run(enqueue_instance)
        with pytest.raises(tf.errors.OutOfRangeError):  # "No more files to read"
            sess.run(enqueue_instance)
        sess.run(close_instance_queue)
        shown = [sess.run(minibatch), sess.run(minibatch)]
        with pytest.raises(tf.errors.OutOfRangeError):  # "No more training instances"
            sess.run(minibatch)
    assert [len(targets) for _, targets in shown] == [2, 1]
    assert _instances(tf, shown) == EXPECTED


@pytest.mark.parametrize("readers", [1, 5])
def test_queue_runners_and_coordinators(tf: Any, tmp_path: Path, readers: int) -> None:
    """Five threads with one reader, then with one each; the source's programs do not wait for them, this one does."""
    _needs_decode_csv(tf)
    (tmp_path / "my_test.csv").write_text(CSV)
    filename_queue, filename, enqueue_filename, close_filename_queue, instance_queue = _input_graph(tf)
    minibatch = list(instance_queue.dequeue_up_to(2))
    enqueue_ops = [_read_and_push_instance(tf, filename_queue, instance_queue) for _ in range(readers)]
    queue_runner = tf.train.QueueRunner(instance_queue, enqueue_ops * (5 // readers))
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        sess.run(enqueue_filename, feed_dict={filename: str(tmp_path / "my_test.csv")})
        sess.run(close_filename_queue)
        enqueue_threads = queue_runner.create_threads(sess, coord=coord, start=True)
        shown = [sess.run(minibatch), sess.run(minibatch)]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(minibatch)
        coord.request_stop()
        coord.join(enqueue_threads)
    assert _instances(tf, shown) == EXPECTED


def test_setting_a_timeout(tf: Any, out: Printed) -> None:
    q = tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[()])
    v = tf.placeholder(tf.float32)
    enqueue = q.enqueue([v])
    dequeue = q.dequeue()
    output = dequeue + 1

    config = tf.ConfigProto()
    config.operation_timeout_in_ms = 1000

    with tf.Session(config=config) as sess:
        sess.run(enqueue, feed_dict={v: 1.0})
        sess.run(enqueue, feed_dict={v: 2.0})
        sess.run(enqueue, feed_dict={v: 3.0})
        print(sess.run(output))
        print(sess.run(output, feed_dict={dequeue: 5}))
        print(sess.run(output))
        print(sess.run(output))
        try:
            print(sess.run(output))
        except tf.errors.DeadlineExceededError:
            print("Timed out while dequeuing")
    assert out.lines == ["2.0", "6.0", "3.0", "4.0", "Timed out while dequeuing"]


def test_a_time_limit_of_one_run(tf: Any) -> None:
    dequeue_prediction = tf.FIFOQueue(10, [tf.float32], [()]).dequeue()
    run_options = tf.RunOptions()
    run_options.timeout_in_ms = 100
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(dequeue_prediction, options=run_options)
