"""Barriers: elements put together from components."""

import threading

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.ops.barrier import Barrier


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def two() -> Barrier:
    return Barrier((tf.float32, tf.string), shapes=((), (2,)), name="B")


TEXTS = np.array([["p", "q"], ["r", "s"]])


def test_elements_are_ready_when_their_components_are_there(session):
    barrier = two()
    session.run(barrier.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
    sizes = [barrier.ready_size(), barrier.incomplete_size()]
    assert session.run(sizes) == [0, 3]
    session.run(barrier.insert_many(0, ["d"], [4.0]))
    session.run(barrier.insert_many(1, ["d", "b"], TEXTS))
    assert session.run(sizes) == [2, 2]
    taken = barrier.take_many(2)
    assert [taken[0].shape, taken[1].shape, *(value.shape for value in taken[2])] == [[2], [2], [2], [2, 2]]
    indices, keys, values = session.run(taken)
    assert (indices.tolist(), keys.tolist()) == ([-(2**63), -(2**63) + 1], [b"b", b"d"])
    assert values[0].tolist() == [2.0, 4.0] and values[1].tolist() == [[b"r", b"s"], [b"p", b"q"]]
    assert [n.op.name for n in (taken[0], barrier.barrier_ref)] == ["B_BarrierTakeMany", "B"] and barrier.name == "B"


def test_taking_waits(session):
    barrier = two()
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(session.run(barrier.take_many(2)[1]).tolist()))
    fills = [barrier.insert_many(0, ["a", "b"], [1.0, 2.0]), barrier.insert_many(1, ["b", "a"], TEXTS)]
    waiting.start()
    for fill in fills:
        assert not taken
        session.run(fill)
    waiting.join(60)
    assert taken == [[b"b", b"a"]]


def test_closed_barriers(session):
    barrier = two()
    session.run(barrier.insert_many(0, ["a", "b"], [1.0, 2.0]))
    session.run(barrier.insert_many(1, ["a"], TEXTS[:1]))
    session.run(barrier.close())
    with pytest.raises(errors.CancelledError, match="is already closed"):
        session.run(barrier.close())
    with pytest.raises(errors.CancelledError, match=r"is closed\. .* cancelled: 0\.  Number of new insertions: 1"):
        session.run(barrier.insert_many(0, ["z"], [1.0]))
    with pytest.raises(errors.OutOfRangeError, match=r"insufficient elements \(requested 3, total size 2\)"):
        session.run(barrier.take_many(3))
    assert session.run(barrier.take_many(9, allow_small_batch=True)[1]).tolist() == [b"a"]
    with pytest.raises(errors.OutOfRangeError, match="is closed and has insufficient elements"):
        session.run(barrier.take_many(9, allow_small_batch=True))
    session.run(barrier.insert_many(1, ["b"], TEXTS[:1]))
    assert session.run(barrier.take_many(1)[1]).tolist() == [b"b"]


def test_cancelled_components(session):
    barrier = two()
    session.run(barrier.insert_many(0, ["a"], [1.0]))
    session.run(barrier.close(cancel_pending_enqueues=True))
    with pytest.raises(errors.CancelledError, match="Pending enqueues cancelled: 1"):
        session.run(barrier.insert_many(1, ["a"], TEXTS[:1]))
    with pytest.raises(errors.OutOfRangeError, match="total size 0"):
        session.run(barrier.take_many(1))


@pytest.mark.parametrize(
    ("component", "keys", "values", "text"),
    [
        (0, ["a"], [1.0], "Key a already has a value for component 0 in barrier"),
        (2, ["b"], [1.0], r"component ID is out of range 2 > num_components \(= 2\)"),
        (0, ["b"], [[1.0]], "Shape mismatch in tuple component 0 of barrier"),
        (1, ["b"], [1.0], "Signature mismatch"),
    ],
)
def test_what_is_refused(session, component, keys, values, text):
    barrier = two()
    session.run(barrier.insert_many(0, ["a"], [1.0]))
    with pytest.raises(errors.InvalidArgumentError, match=text):
        session.run(barrier.insert_many(component, keys, values))
    with pytest.raises(ValueError, match="has no timeout of its own"):
        barrier.take_many(1, timeout=100)
    with pytest.raises(ValueError, match="must be equal, but are 2 and 1"):
        barrier.insert_many(0, ["a", "b"], [1.0])
    with pytest.raises(errors.InvalidArgumentError, match="at least 0, not -1"):
        session.run(barrier.take_many(tf.placeholder_with_default(-1, []))[0])


@pytest.mark.parametrize(
    ("shapes", "text"), [(((),), "one for each"), (((), (None,)), "fully defined"), (((), (0,)), "Empty tensors")]
)
def test_shapes_that_are_refused(shapes, text):
    with pytest.raises(ValueError, match=text):
        Barrier((tf.float32, tf.float32), shapes)


def test_barriers_are_shared_by_name(session):
    one, other = (Barrier(tf.float32, shapes=[()], shared_name="s") for _ in range(2))
    session.run(one.insert_many(0, ["a"], [5.0]))
    assert session.run(other.take_many(1)[2][0]).tolist() == [5.0]
    with pytest.raises(errors.InvalidArgumentError, match="has component types"):
        session.run(Barrier(tf.int32, shapes=[()], shared_name="s").ready_size())


def test_texts_of_no_dimensions_are_taken(session):
    barrier = Barrier([tf.string], [[]])
    session.run(barrier.insert_many(0, ["a", "b"], ["x", "longer"]))
    assert session.run(barrier.take_many(2)[2][0]).tolist() == [b"x", b"longer"]


def test_its_name_is_that_of_its_node(session):
    with tf.name_scope("scope"):
        assert Barrier([tf.string]).name == "scope/barrier"


def test_what_has_no_elements_and_a_shape_that_stands_alone(session):
    alone = Barrier(tf.float32, shapes=())
    assert alone.take_many(2)[2][0].shape == [2]
    unknown = Barrier([tf.float32, tf.float32])
    assert unknown.barrier_ref.op.get_attr("shapes")[0].unknown_rank
    with pytest.raises(errors.InvalidArgumentError, match=r"no elements are not supported .*: received shape \[1,0\]"):
        session.run(unknown.insert_many(0, ["a"], np.zeros([1, 0], np.float32)))
    nothing = unknown.insert_many(0, np.array([], object), np.zeros([0], np.float32))
    session.run(unknown.close())
    session.run(nothing)
    session.run(unknown.close(cancel_pending_enqueues=True))
    with pytest.raises(errors.CancelledError, match=r"is closed\. .* cancelled: 1\.  Number of new insertions: 0"):
        session.run(nothing)
