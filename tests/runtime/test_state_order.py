"""Reads and updates of variables in one step: what TensorFlow gives, in every tier of execution."""

import threading

import numpy as np
import pytest

import tfexp as tf

RUNS = 6  # interpreted, optimised and interpreted, generated


def variable(value, name="v"):
    return tf.Variable(np.asarray(value, np.float32), name=name)


def run_many(build, initial=1.0):
    """Results of running `build(v)` again and again, v starting at `initial`, and v's value at the end."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable(initial)
        fetches = build(v)
        session.run(v.initializer)
        results = [session.run(fetches) for _ in range(RUNS)]
        return results, session.run(v)


def test_a_computation_on_the_variable_sees_the_value_before_the_update():
    results, last = run_many(lambda v: [v * 10.0, tf.assign_add(v, 1.0)])
    assert results == [[10.0 * (i + 1), i + 2.0] for i in range(RUNS)]
    assert last == 1.0 + RUNS


def test_fetching_the_variable_itself_gives_its_value_after_the_step():
    # In TensorFlow a fetched reference is read when the step is over.
    results, _ = run_many(lambda v: [v, v.value(), tf.assign_add(v, 1.0)])
    assert results == [[i + 2.0] * 3 for i in range(RUNS)]


def test_a_control_edge_orders_a_read_after_the_update():
    def build(v):
        before = v * 10.0
        update = tf.assign_add(v, 1.0)
        with tf.control_dependencies([update]):
            return [before, tf.identity(v), v.read_value() * 10.0, v + 0.0]

    results, _ = run_many(build)
    assert results == [[10.0 * (i + 1), i + 2.0, 10.0 * (i + 2), i + 2.0] for i in range(RUNS)]


def test_an_update_by_the_variables_own_value():
    results, _ = run_many(lambda v: [tf.assign(v, v * 2.0), v + 0.5])
    assert results == [[2.0 ** (i + 1), 2.0**i + 0.5] for i in range(RUNS)]


def test_a_chain_of_updates_through_references():
    def build(v):
        first = tf.assign_add(v, 1.0)
        between = first * 1.0
        second = tf.assign_add(first, 10.0)
        return [between, second * 1.0, first]

    results, _ = run_many(build)
    assert results == [[11.0 * i + 2.0, 11.0 * i + 12.0, 11.0 * i + 12.0] for i in range(RUNS)]


def test_equal_computations_before_and_after_an_update_stay_apart():
    def build(v):
        before = tf.square(v)
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            after = tf.square(v)
        return [before, after]

    results, _ = run_many(build)
    assert results == [[(i + 1.0) ** 2, (i + 2.0) ** 2] for i in range(RUNS)]


def test_every_read_of_every_variable_comes_before_unordered_updates():
    """A read that itself waits for another variable's update still comes before its own variable's."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = variable(1.0, "a"), variable(100.0, "b")
        update_b = tf.assign_add(b, 100.0)
        update_a = tf.assign_add(a, 1.0)
        with tf.control_dependencies([update_a]):
            read_b = b * 1.0
        session.run([a.initializer, b.initializer])
        for i in range(RUNS):
            assert session.run([read_b, update_b.op, update_a]) == [100.0 * (i + 1), None, i + 2.0]


def queued():
    queue = tf.FIFOQueue(1, [tf.int32], [[]])
    tf.add_to_collection("before", queue.close())
    return queue.dequeue()


@pytest.mark.parametrize(
    "make_input",
    [
        queued,
        lambda: tf.data.Dataset.range(0).make_one_shot_iterator().get_next(),
        lambda: tf.count_up_to(tf.Variable(0), 0),
    ],
    ids=["queue", "dataset", "count"],
)
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_does_not_need_the_input_is_done_when_that_ends(make_input, use_resource):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        got = make_input()
        steps = tf.Variable(0, use_resource=use_resource)
        step = tf.assign_add(steps, 1)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), graph.get_collection("before")])
        for run in range(RUNS):
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run([got, step])
            assert session.run(steps) == run + 1


def test_swapping_through_reads():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = variable([1.0, 2.0], "a"), variable([3.0, 5.0], "b")
        # One of the two has to wait for a copy of the other's old value.
        old_a = tf.identity(a) + 0.0
        swap = [tf.assign(a, b * 1.0), tf.assign(b, old_a)]
        session.run([a.initializer, b.initializer])
        for _ in range(RUNS):
            session.run([op.op for op in swap])
        np.testing.assert_array_equal(session.run(a), [1.0, 2.0])
        np.testing.assert_array_equal(session.run(b), [3.0, 5.0])


def test_an_update_by_a_view_of_the_variable_itself():
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable([[1.0, 2.0], [3.0, 5.0]])
        update = tf.assign_sub(v, tf.transpose(v))
        session.run(v.initializer)
        expected = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
        for _ in range(RUNS):
            session.run(update.op)
            expected = expected - expected.T
            np.testing.assert_array_equal(session.run(v), expected)
        assert session.explain(update.op).plan.steps[-1].copied == (1,)


def test_an_update_that_changes_the_shape():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros(3, np.float32), validate_shape=False)
        x = tf.placeholder(tf.float32, [None])
        change = tf.assign(v, x, validate_shape=False)
        doubled = v * 2.0
        session.run(v.initializer)
        for size in (3, 5, 2, 5, 5, 5, 3):
            session.run(change, {x: np.full(size, size)})
            np.testing.assert_array_equal(session.run(doubled), np.full(size, 2.0 * size))


def test_another_shape_forced_into_a_variable_of_known_shape():
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable([1.0, 2.0, 3.0])
        doubled = v * 2.0
        x = tf.placeholder(tf.float32, [None])
        change = tf.assign(v, x, validate_shape=False)
        session.run(v.initializer)
        for _ in range(4):
            session.run(doubled)
        session.run(change, {x: np.full(5, 7.0)})
        np.testing.assert_array_equal(session.run(doubled), np.full(5, 14.0))


def test_side_effects_happen_once_per_run():
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable(0.0)
        bump = tf.assign_add(v, 1.0)
        fetches = [bump, bump * 1.0, [bump.op, bump], {"again": bump}, tf.group(bump)]
        session.run(v.initializer)
        for i in range(RUNS):
            session.run(fetches)
            assert session.run(v) == i + 1.0


def test_fetched_variables_are_copies():
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable([1.0, 2.0])
        views = [v, v.value(), tf.reshape(v, [2, 1])]
        session.run(v.initializer)
        update = tf.assign_add(v, [1.0, 1.0])
        for i in range(RUNS):
            values = session.run(views)
            session.run(update)
            for value in values:
                np.testing.assert_array_equal(value.ravel(), [1.0 + i, 2.0 + i])
                value[...] = 1000.0
        np.testing.assert_array_equal(session.run(v), [1.0 + RUNS, 2.0 + RUNS])


def test_feeding_a_variables_read_leaves_the_variable_alone():
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable(2.0)
        doubled = v * 2.0
        session.run(v.initializer)
        for _ in range(4):
            assert session.run(doubled, {v.value(): 5.0}) == 10.0
            assert session.run(doubled) == 4.0


def test_threads_share_a_session():
    """Each run has buffers of its own, and every update arrives."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        counter = tf.Variable(0, dtype=tf.int32)
        bump = tf.assign_add(counter, 1, use_locking=True)
        y = tf.matmul(tf.maximum(x, 0.0), tf.ones([3, 5])) + 1.0
        session.run(counter.initializer)
        problems = []

        def work(seed):
            for i in range(60):
                value = float(seed * 100 + i % 7)
                fed = np.full((2 + i % 3, 3), value, np.float32)
                result, _ = session.run([y, bump], {x: fed})
                expected = np.full((len(fed), 5), 3 * value + 1)
                if not np.allclose(result, expected):
                    problems.append((seed, i))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert session.run(counter) == 5 * 60


@pytest.mark.parametrize("size", [1, 1000])
def test_in_place_updates_do_not_disturb_views(size):
    """The reshaped read is a view of the variable; what is computed from it uses the old value."""

    def build(v):
        view = tf.reshape(v, [-1, 1])
        return [tf.reduce_sum(view * 1.0), tf.assign_sub(v, v * 0.5).op]

    results, _ = run_many(build, np.full(size, 4.0))
    assert [r[0] for r in results] == [size * 4.0 * 0.5**i for i in range(RUNS)]
