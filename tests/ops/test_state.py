"""Variables' nodes: assignment, scatter updates, counters, and the errors they give, at construction and at run time."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.core.kernel import Ref
from tfexp.core.op import get_gradient, get_op
from tfexp.graph.gradients import gradients
from tfexp.ops import state

NUMERIC = [
    tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
    tf.complex64, tf.complex128,
]  # fmt: skip


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def filled(dtype: Any, *shape: int, low: int = 1) -> np.ndarray:
    return np.arange(low, low + np.prod(shape, dtype=int)).reshape(shape).astype(dtype.as_numpy_dtype)


def run(initial: Any, build: Any, **settings: Any) -> tuple[Any, Any]:
    """(what the op gives, the variable afterwards) for a fresh variable of that initial value."""
    variable = tf.Variable(initial, name="v", **settings)
    op = build(variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        return session.run(op), session.run(variable)


# --- assignment --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda d: d.name)
def test_assign_add_and_sub(dtype: Any) -> None:
    start, delta = filled(dtype, 2, 3, low=7), filled(dtype, 2, 3)
    for build, expected in (
        (lambda v: tf.assign(v, delta), delta),
        (lambda v: tf.assign_add(v, delta), start + delta),
        (lambda v: tf.assign_sub(v, delta, use_locking=True), start - delta),
    ):
        with tf.Graph().as_default():
            got, after = run(start, build)
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(after, expected)
        assert after.dtype == start.dtype


def test_integers_wrap_around() -> None:
    _, after = run(np.array([250, 7], np.uint8), lambda v: tf.assign_add(v, np.array([10, 1], np.uint8)))
    assert after.tolist() == [4, 8]


def test_assign_strings_and_bools() -> None:
    assert run(["a", "b"], lambda v: tf.assign(v, ["x", "yy"]))[1].tolist() == [b"x", b"yy"]
    assert run([True, False], lambda v: tf.assign(v, [False, False]))[1].tolist() == [False, False]


def test_assigned_value_is_a_copy() -> None:
    """The variable must not change with what it was assigned from."""
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    copy = tf.assign(b, a)
    bump = a.assign_add([1.0, 1.0])
    with tf.Session() as session:
        session.run([a.initializer, b.initializer])
        session.run(copy)
        session.run(bump)
        assert session.run(b).tolist() == [1.0, 2.0]


def test_shape_changes_only_without_validation() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    fed = tf.placeholder(tf.float32)
    checked, unchecked = tf.assign(v, fed), tf.assign(v, fed, validate_shape=False)
    assert checked.get_shape() == [2]
    assert unchecked.get_shape().ndims is None
    with tf.Session() as session:
        for fresh in (True, False):
            if not fresh:
                session.run(v.initializer)
            with pytest.raises(errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
                session.run(checked, {fed: [1.0, 2.0, 3.0]})
        assert session.run(unchecked, {fed: [5.0]}).tolist() == [5.0]
        assert session.run(v).tolist() == [5.0]
        with pytest.raises(errors.InvalidArgumentError, match=r"lhs shape= \[1\] rhs shape= \[2\]"):
            session.run(v.initializer)


@pytest.mark.parametrize("update", [tf.assign_add, tf.assign_sub])
def test_updates_need_the_variable_s_shape(update: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    fed = tf.placeholder(tf.float32)
    changed = update(v, fed)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(errors.InvalidArgumentError, match="must be the same size: variable v has shape"):
            session.run(changed, {fed: 1.0})
        assert session.run(v).tolist() == [1.0, 2.0]


def test_use_before_initialization_names_the_variable() -> None:
    v, c = tf.Variable([[1.0, 2.0]], name="weights"), tf.Variable(0, name="count")
    needs_value = [
        v.assign_add(v), tf.scatter_add(v, [0], [[1.0, 1.0]]), tf.scatter_nd_sub(v, [[0]], [[1.0, 1.0]]),
        v.read_value(), v,
    ]  # fmt: skip
    with tf.Session() as session:
        for fetch in needs_value:
            with pytest.raises(errors.FailedPreconditionError, match="uninitialized value weights"):
                session.run(fetch)
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value count"):
            session.run(c.count_up_to(3))
        assert not session.run(tf.is_variable_initialized(v))
        session.run(v.initializer)
        assert session.run(tf.is_variable_initialized(v))


def test_count_up_to_stops_at_the_limit() -> None:
    c = tf.Variable(3, name="c", dtype=tf.int64)
    count = tf.count_up_to(c, 5)
    assert count.dtype is tf.int64
    with tf.Session() as session:
        session.run(c.initializer)
        assert [session.run(count), session.run(count)] == [3, 4]
        for _ in range(2):
            with pytest.raises(errors.OutOfRangeError, match="Reached limit of 5"):
                session.run(count)
        assert session.run(c) == 5


def test_steps_that_count_at_once_each_get_a_number() -> None:
    ref, counted = Ref("counter", tf.int64, tf.TensorShape([])), []
    other = threading.Thread(target=lambda: counted.append(int(state.count_up(ref, 9))))

    class Counter(np.ndarray):
        """Somebody else counts when it has been read."""

        def copy(self, order: Any = "C") -> Any:
            read = np.array(self)
            if other.ident is None:
                other.start()
                other.join(0.05)  # it would be done, did it not wait
            return read

    ref.value = np.zeros([], np.int64).view(Counter)
    counted.append(int(state.count_up(ref, 9)))
    other.join(60)
    assert sorted(counted) == [0, 1]


def test_steps_that_add_at_once_lose_nothing() -> None:
    """NumPy lets other threads go on in the midst of large arrays."""
    ref = Ref("v", tf.float32, tf.TensorShape([3]))
    other = threading.Thread(target=lambda: add(ref, np.ones(3, np.float32)))

    def slow_add(buffer: np.ndarray, value: np.ndarray, out: np.ndarray) -> None:
        total = buffer + value
        if other.ident is None:
            other.start()
            other.join(0.05)  # it would be done, did it not wait
        out[...] = total

    add = state._update_by(slow_add)
    ref.assign(np.zeros(3, np.float32))
    add(ref, np.ones(3, np.float32))
    other.join(60)
    np.testing.assert_array_equal(ref.value, [2, 2, 2])


@pytest.mark.parametrize("name", ["ScatterAdd", "ScatterNdAdd"])
def test_steps_that_scatter_at_once_lose_nothing(name: str) -> None:
    ref = Ref("v", tf.float32, tf.TensorShape([3, 1]))

    class Buffer(np.ndarray):
        """Somebody else adds when rows or elements have been read."""

        def take(self, *how: Any) -> Any:
            return self._taken(np.asarray(self).take(*how))

        def __getitem__(self, index: Any) -> Any:
            return self._taken(np.asarray(self)[index])

        def _taken(self, taken: Any) -> Any:
            if other.ident is None:
                other.start()
                other.join(0.05)  # it would be done, did it not wait
            return taken

    def add() -> None:
        rows = name == "ScatterAdd"
        indices, updates = (np.array([0, 2]), np.ones((2, 1))) if rows else (np.array([[0, 0], [2, 0]]), np.ones(2))
        get_op(name).kernels["CPU"].compute(None, ref, indices, updates.astype(np.float32))

    other = threading.Thread(target=add)
    ref.value = np.zeros((3, 1), np.float32).view(Buffer)
    add()
    assert other.ident is not None
    other.join(60)
    np.testing.assert_array_equal(ref.value, [[2], [0], [2]])


def test_a_variable_has_a_value_once_all_of_it_is_there() -> None:
    ref, seen = Ref("v", tf.float32, tf.TensorShape([3])), []

    class Coming:
        """A value that somebody looks for while it is copied."""

        shape = (3,)

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            seen.append(ref.value)
            return np.arange(3, dtype=np.float32)

    ref.assign(Coming())
    assert seen and all(one is None for one in seen)
    np.testing.assert_array_equal(ref.value, [0, 1, 2])


def test_old_variable_op_takes_an_empty_shape_as_unknown() -> None:
    assert get_op("Variable")(shape=[], dtype=tf.float32).get_shape().ndims is None
    assert get_op("Variable")(shape=[2, 3], dtype=tf.float32).get_shape() == [2, 3]
    assert get_op("VariableV2")(shape=[], dtype=tf.float32).get_shape() == []


def test_shared_name_makes_two_nodes_one_variable() -> None:
    first = get_op("VariableV2")(shape=[2], dtype=tf.float32, shared_name="both")
    second = get_op("VariableV2")(shape=[2], dtype=tf.float32, shared_name="both")
    old = get_op("Variable")(shape=[2], dtype=tf.float32, shared_name="both")
    other = get_op("VariableV2")(shape=[2], dtype=tf.float32, shared_name="both", container="elsewhere")
    with tf.Session() as session:
        session.run(tf.assign(first, [1.0, 2.0]))
        assert session.run(second).tolist() == [1.0, 2.0]
        assert session.run(old).tolist() == [1.0, 2.0]
        assert not session.run(tf.is_variable_initialized(other))


def test_bound_calls_do_what_the_kernels_do() -> None:
    from tfexp.core.kernel import BindRequest

    for name, expected in (("Assign", [5.0, 7.0]), ("AssignAdd", [6.0, 9.0]), ("AssignSub", [-4.0, -5.0])):
        op = get_op(name)
        request = BindRequest(name, "n", {"validate_shape": True, "use_locking": False}, (), (), (), (), ())
        assert op.bind_rule is not None
        call = op.bind_rule(request)
        ref = Ref("v", tf.float32, tf.TensorShape([2]))
        ref.assign(np.float32([1, 2]))
        assert call is not None
        assert call.function(ref, np.float32([5, 7])) is ref
        assert ref.value is not None and ref.value.tolist() == expected


# --- rows and elements -------------------------------------------------------------------------------------------------

ROWS = np.float32([[1, 2], [3, 4], [5, 6]])


def by_rows(operation: Any, start: np.ndarray, indices: Any, updates: Any) -> np.ndarray:
    """The reference: one row after the other."""
    result = start.copy()
    indices = np.asarray(indices)
    updates = np.broadcast_to(updates, indices.shape + start.shape[1:])
    for place in np.ndindex(indices.shape):
        result[indices[place]] = operation(result[indices[place]], updates[place])
    return result


SCATTERS = {
    "update": (tf.scatter_update, lambda old, new: new),
    "add": (tf.scatter_add, lambda old, new: old + new),
    "sub": (tf.scatter_sub, lambda old, new: old - new),
    "mul": (tf.scatter_mul, lambda old, new: old * new),
    "div": (tf.scatter_div, lambda old, new: old / new),
    "min": (tf.scatter_min, np.minimum),
    "max": (tf.scatter_max, np.maximum),
}


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.parametrize(
    ("indices", "updates"),
    [
        ([2, 0], [[7.0, -1.0], [2.0, 4.0]]),
        ([1, 1, 0], [[2.0, 3.0], [5.0, 7.0], [11.0, 13.0]]),
        ([[0, 1], [2, 0]], np.arange(1.0, 9.0).reshape(2, 2, 2)),
        (1, [7.0, 8.0]),
        ([0, 2], 3.0),
        (np.zeros([0]), np.zeros([0, 2])),
    ],
    ids=["rows", "repeated", "matrix of indices", "one index", "scalar update", "none"],
)
def test_scatter_rows(name: str, indices: Any, updates: Any, index_type: Any) -> None:
    function, operation = SCATTERS[name]
    indices, updates = np.asarray(indices, index_type), np.asarray(updates, np.float32)
    got, after = run(ROWS, lambda v: function(v, indices, updates))
    expected = by_rows(operation, ROWS, indices, updates)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    np.testing.assert_array_equal(got, after)


@pytest.mark.parametrize("most", [1, 2, 5, 8, 11])
def test_rows_that_come_several_times_change_in_turn(most: int) -> None:
    """To the bit: floating-point sums depend on the order. Index i comes up to `most` times, anywhere."""
    random = np.random.default_rng(most)
    indices = random.permutation(np.repeat(np.arange(13), 1 + np.arange(13) % most))
    start, updates = (random.standard_normal([n, 3], np.float32) for n in (17, len(indices)))
    _, after = run(start, lambda v: tf.scatter_sub(v, indices, updates))
    np.testing.assert_array_equal(after, by_rows(lambda old, new: old - new, start, indices, updates))


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda d: d.name)
def test_scatter_add_types(dtype: Any) -> None:
    start, updates = filled(dtype, 3, 2), filled(dtype, 5, 2)
    _, after = run(start, lambda v: tf.scatter_add(v, [0, 2, 0, 1, 0], updates))
    np.testing.assert_array_equal(after, by_rows(lambda a, b: (a + b).astype(start.dtype), start, [0, 2, 0, 1, 0], updates))


def test_scatter_div_of_integers_cuts_towards_zero() -> None:
    _, after = run([7, -7, 7, -7], lambda v: tf.scatter_div(v, [0, 1, 2, 3], [2, 2, -2, -2]))
    assert after.tolist() == [3, -3, -3, 3]
    with tf.Graph().as_default():
        _, after = run([100, 5], lambda v: tf.scatter_div(v, [0, 0], [3, 4]))
    assert after.tolist() == [8, 5]
    with tf.Graph().as_default(), pytest.raises(errors.InvalidArgumentError, match="division by zero"):
        run([7, 5], lambda v: tf.scatter_div(v, [0], [0]))


def test_scatter_update_takes_any_type() -> None:
    assert run(["a", "b"], lambda v: tf.scatter_update(v, [1], ["zz"]))[1].tolist() == [b"a", b"zz"]
    assert run([True, False], lambda v: tf.scatter_update(v, [1], [True]))[1].tolist() == [True, True]


ND = np.float32([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.scatter_nd_update, [[1, 7, 3], [4, 5, 11]]),
        (tf.scatter_nd_add, [[1, 2 + 5 + 7, 3], [4, 5, 17]]),
        (tf.scatter_nd_sub, [[1, 2 - 5 - 7, 3], [4, 5, -5]]),
    ],
)
def test_scatter_nd_elements(function: Any, expected: Any) -> None:
    got, after = run(ND, lambda v: function(v, [[0, 1], [0, 1], [1, 2]], [5.0, 7.0, 11.0]))
    assert got.tolist() == after.tolist() == expected


def test_scatter_nd_slices_and_batches() -> None:
    _, after = run(ND, lambda v: tf.scatter_nd_add(v, [[1]], [[10.0, 20.0, 30.0]]))
    assert after.tolist() == [[1, 2, 3], [14, 25, 36]]
    with tf.Graph().as_default():
        _, after = run(ND, lambda v: tf.scatter_nd_update(v, [[[0, 0]], [[1, 1]]], [[8.0], [9.0]]))
    assert after.tolist() == [[8, 2, 3], [4, 9, 6]]
    with tf.Graph().as_default():
        _, after = run(ND, lambda v: tf.scatter_nd_sub(v, np.zeros([2, 0], np.int32), np.ones([2, 2, 3], np.float32)))
    assert after.tolist() == (ND - 2).tolist()


def test_scatter_from_the_variable_itself() -> None:
    """The updates are the rows as they were, also where they are read from the buffer that changes."""
    v = tf.Variable(ROWS)
    with tf.Session() as session:
        session.run(v.initializer)
        after = session.run(tf.scatter_update(v, [1, 2, 0], v))
    assert after.tolist() == ROWS[[2, 0, 1]].tolist()


RUN_ERRORS = [
    (lambda v, x: tf.scatter_add(v, [0, 3], x), [[1.0, 2.0]] * 2, r"indices\[1\] = 3 is not in \[0, 3\)"),
    (lambda v, x: tf.scatter_update(v, [-1], x), [[1.0, 2.0]], r"indices\[0\] = -1 is not in \[0, 3\)"),
    (lambda v, x: tf.scatter_mul(v, [[0, 1], [2, 9]], x), 3.0, r"indices\[1,1\] = 9 is not in \[0, 3\)"),
    (lambda v, x: tf.scatter_add(v, [0], x), [1.0, 2.0], r"got updates.shape \[2\], indices.shape \[1\]"),
    (lambda v, x: tf.scatter_nd_add(v, [[0, 5]], x), [1.0], r"indices\[0\] = \[0, 5\] does not index into shape \[3,2\]"),
    (lambda v, x: tf.scatter_nd_sub(v, [[[0]], [[-1]]], x), [[[1.0, 2.0]]] * 2, r"indices\[1,0\] = \[-1\] does not index"),
    (
        lambda v, x: tf.scatter_nd_update(v, [[0, 1, 1]], x),
        [2.0],
        r"Must have updates.shape = indices.shape\[:batch_dim\] .* slice_dim: 3, and batch_dim: 1 \(variable v\)",
    ),
    (
        lambda v, x: tf.scatter_nd_update(v, [[0, 1]], x),
        [[2.0]],
        r"got updates.shape: \[1,1\], indices.shape: \[1,2\], params_shape: \[3,2\]",
    ),
]


@pytest.mark.parametrize(("build", "updates", "message"), RUN_ERRORS)
def test_scatter_refuses_and_changes_nothing(build: Any, updates: Any, message: str) -> None:
    v, fed = tf.Variable(ROWS, name="v"), tf.placeholder(tf.float32)
    op = build(v, fed)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(errors.InvalidArgumentError, match=message):
            session.run(op, {fed: updates})
        np.testing.assert_array_equal(session.run(v), ROWS)


# --- construction ------------------------------------------------------------------------------------------------------

BUILD_ERRORS = [
    (lambda v: tf.assign(v, [1.0, 2.0]), ValueError, r"Shapes must be equal rank, but are 2 and 1 for 'Assign'"),
    (
        lambda v: tf.assign_add(v, [[1.0], [2.0], [3.0]]),
        ValueError,
        r"Dimension 1 in both shapes must be equal, but are 2 and 1",
    ),
    (lambda v: tf.assign(v, tf.constant(np.zeros([3, 2]))), TypeError, "Input 'value' of 'Assign' Op has type float64"),
    (lambda v: tf.assign(tf.constant(1.0), 2.0), AttributeError, "assign"),
    (lambda v: tf.scatter_add(tf.constant([1.0]), [0], [2.0]), AttributeError, "is not a variable"),
    (lambda v: tf.scatter_add(v, [0], [2.0]), ValueError, "Shapes must be equal rank, but are 1 and 2"),
    (lambda v: tf.scatter_add(v, [0], [[2.0, 1.0, 3.0]]), ValueError, r"Shapes are \[1,3\] and \[1,2\]"),
    (lambda v: tf.scatter_add(v, [0.0], [[2.0, 1.0]]), TypeError, "indices"),
    (lambda v: tf.scatter_nd_add(v, [[0]], [[2.0]]), ValueError, r"The inner 1 dimensions of input.shape=\[3,2\]"),
    (lambda v: tf.scatter_nd_add(v, [[0, 1]], [[2.0]]), ValueError, "Shapes must be equal rank, but are 0 and 1"),
    (
        lambda v: tf.scatter_nd_add(v, [[0], [1]], [[2.0, 1.0]]),
        ValueError,
        r"The outer 1 dimensions of indices.shape=\[2,1\]",
    ),
    (lambda v: tf.count_up_to(v, 3), TypeError, "list of allowed values: int32, int64"),
    (lambda v: tf.count_up_to(tf.Variable([3, 2]), 3), ValueError, "Shape must be rank 0 but is rank 1"),
    (lambda v: tf.scatter_min(tf.Variable([1 + 2j]), [0], [1 + 1j]), TypeError, "complex128 not in list"),
]


@pytest.mark.parametrize(("build", "error", "message"), BUILD_ERRORS)
def test_construction_errors(build: Any, error: type[Exception], message: str) -> None:
    v = tf.Variable(ROWS, name="v")
    with pytest.raises(error, match=message):
        build(v)


def test_updates_return_the_reference_beside_the_variable() -> None:
    v = tf.Variable(ROWS, name="v")
    for updated in (
        tf.assign(v, ROWS),
        tf.assign_add(v, ROWS),
        tf.scatter_sub(v, [0], 1.0),
        tf.scatter_nd_add(v, [[0, 0]], [1.0]),
    ):
        assert updated.dtype is tf.float32._as_ref
        assert updated.get_shape() == [3, 2]
        assert updated.op.get_attr("_class") == [b"loc:@v"]
        assert updated.op.inputs[0] is v._ref()


def test_gradients_stop_at_updates() -> None:
    v = tf.Variable(ROWS, name="v")
    for name in (
        "Assign",
        "AssignAdd",
        "AssignSub",
        "ScatterAdd",
        "ScatterSub",
        "ScatterMul",
        "ScatterDiv",
        "ScatterNdUpdate",
    ):
        assert get_gradient(name) is None
    assert gradients(v.assign(v * 2.0), [v]) == [None]
    for name in ("IsVariableInitialized", "CountUpTo", "ScatterUpdate", "ScatterMin", "ScatterMax", "VariableV2"):
        with pytest.raises(LookupError):
            get_gradient(name)
