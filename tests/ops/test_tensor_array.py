"""tf.TensorArray: what is written is read, gradients of every method, and TensorFlow's errors."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.graph.defaults import new_eager_world
from tfexp.runtime.eager import eager_mode

TA = tf.TensorArray


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        results = [session.run(fetches, feeds) for _ in range(3)]
    for result in results[1:]:
        for a, b in zip(
            result if isinstance(result, list) else [result], results[0] if isinstance(result, list) else [results[0]]
        ):
            np.testing.assert_array_equal(a, b)
    return results[0]


X = np.arange(15, dtype=np.float32).reshape(5, 3)


def test_write_read_stack_concat_gather_size():
    array = TA(tf.float32, 3).write(2, [5.0, 6.0]).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    assert array.element_shape.as_list() == [2]
    np.testing.assert_array_equal(run(array.stack()), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(run(array.concat()), [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(run(array.gather([2, 0])), [[5, 6], [1, 2]])
    assert run([array.read(1)[1], array.size()]) == [4.0, 3]
    assert array.stack().get_shape().as_list() == [3, 2]


def test_unstack_scatter_split():
    x = tf.placeholder(tf.float32, [None, 3])
    np.testing.assert_array_equal(run(TA(tf.float32, 5).unstack(x).read(3), {x: X}), X[3])
    scattered = TA(tf.float32, 7).scatter([6, 0, 2, 1, 3], x).stack()
    expected = np.zeros([7, 3], np.float32)
    expected[[6, 0, 2, 1, 3]] = X
    np.testing.assert_array_equal(run(scattered, {x: X}), expected)
    split = TA(tf.float32, 3, infer_shape=False).split(x, [2, 0, 3])
    np.testing.assert_array_equal(run(split.read(2), {x: X}), X[2:])


def test_an_array_may_grow():
    array = TA(tf.int32, 0, dynamic_size=True)
    for i in range(4):
        array = array.write(i, i * i)
    assert run(array.size()) == 4
    np.testing.assert_array_equal(run(array.stack()), [0, 1, 4, 9])


@pytest.mark.parametrize("value", [b"text", True, 3 + 4j, np.float64(0.5), np.int64(7)])
def test_dtypes(value):
    constant = tf.constant(value)
    array = TA(constant.dtype, 2).write(0, constant).write(1, constant)
    assert run(array.read(1)) == value
    assert run(array.stack()).tolist() == [value, value]


METHODS = {
    "read": lambda x: TA(tf.float32, 5).unstack(x).read(1) * 2.0,
    "read_twice": lambda x: (lambda a: a.read(1) * a.read(1) + a.read(2))(
        TA(tf.float32, 5, clear_after_read=False).unstack(x)
    ),
    "write": lambda x: TA(tf.float32, 2).write(0, x[1] * x[2]).write(1, x[0]).stack(),
    "stack": lambda x: tf.square(TA(tf.float32, 5).unstack(x).stack()),
    "gather": lambda x: tf.square(TA(tf.float32, 5).unstack(x).gather([3, 0])),
    "scatter": lambda x: tf.square(TA(tf.float32, 7).scatter([6, 0, 2, 1, 3], x).stack()),
    "concat": lambda x: tf.square(TA(tf.float32, 5).unstack(x).concat()),
    "split": lambda x: tf.square(TA(tf.float32, 2, infer_shape=False).split(x, [2, 3]).read(1)),
    "split_concat": lambda x: tf.square(TA(tf.float32, 3, infer_shape=False).split(x, [2, 1, 2]).concat()),
    "identity": lambda x: TA(tf.float32, 5).unstack(x).identity().read(4),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [[5, 3], [None, 3]])
def test_gradients(method, shape):
    x = tf.placeholder(tf.float32, shape)
    y = tf.reduce_sum(METHODS[method](x))
    grad = run(tf.gradients(y, x)[0], {x: X})
    with tf.Session() as session:
        for index in np.ndindex(X.shape):
            step = np.zeros_like(X)
            step[index] = 0.5
            slope = session.run(y, {x: X + step}) - session.run(y, {x: X - step})
            assert grad[index] == pytest.approx(slope, abs=1e-3)


def test_second_order_gradients():
    # A TensorArray of gradients is no TensorArray that can be differentiated: TensorFlow gives none for it either.
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(x**3)
    rows = TA(tf.float32, 1).write(0, tf.gradients(y, x)[0])
    np.testing.assert_allclose(run(tf.gradients(rows.read(0), x)[0], {x: [1.0, 2.0, 3.0]}), [6.0, 12.0, 18.0])


def after(first, then):
    with tf.control_dependencies([first]):
        return then()


def array3(**options):
    return TA(tf.float32, 3, **options)


RUN_TIME = [
    (lambda: array3().read(1), r"Could not read from TensorArray index 1\.  Furthermore, the element shape is not fully"),
    (lambda: array3().read(3), "Tried to read from index 3 but array size is: 3"),
    (lambda: array3().read(-1), "Tried to read from index -1 but array size is: 3"),
    (lambda: array3().write(3, 1.0).flow, "Tried to write to index 3 but array is not resizeable and size is: 3"),
    (lambda: array3().write(1, 1.0).write(1, 2.0).flow, "TensorArray index 1 because it has already been written to"),
    (
        lambda: (lambda a: after(a.read(1), lambda: a.read(1)))(array3().write(1, 1.0)),
        "Could not read index 1 twice because it was cleared after a previous read",
    ),
    (
        lambda: (lambda a: after(a.read(1), lambda: a.write(1, 2.0).flow))(array3(clear_after_read=False).write(1, 1.0)),
        "index 1 because it has already been read",
    ),
    (
        lambda: array3(infer_shape=False).write(0, [1.0]).write(2, 2.0).write(1, [1.0]).stack(),
        r"inconsistent shapes.  Index 0 has shape: \[1\] but index 2 has shape: \[\]",
    ),
    (lambda: TA(tf.float32, 2).unstack([1.0, 2.0, 3.0]).flow, r"Max scatter index must be < array size \(2 vs. 2\)"),
    (lambda: TA(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 1]).flow, "Expected sum of lengths to be equal to values.shape"),
    (
        lambda: TA(tf.float32, 1).split([1.0], tf.placeholder_with_default(np.int64(1), None)).flow,
        r"Expected lengths to be a vector, received shape: \[\]",
    ),
    (lambda: TA(tf.float32, 3).split([1.0, 2.0, 3.0], [1, 2]).flow, r"not equal to the size of lengths \(3 vs. 2\)"),
    (
        lambda: TA(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 2]).flow,
        "incompatible with the TensorArray's inferred element shape",
    ),
    (lambda: TA(tf.float32, 2).split(1.0, [1, 2]).flow, "Expected value to be at least a vector"),
    (lambda: TA(tf.float32, -1).flow, "Size should be >= 0"),
    (lambda: TA(tf.float32, 1, infer_shape=False).write(0, 1.0).concat(), "Concat saw a scalar shape at index 0"),
    (lambda: (lambda a: after(a.close(), lambda: a.read(1)))(array3().write(1, 1.0)), "has already been closed"),
]


@pytest.mark.parametrize(("build", "text"), RUN_TIME)
def test_errors_when_it_runs(build, text):
    fetch = build()
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(fetch)


def test_an_empty_array_needs_a_shape():
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match="size zero, but element shape"):
        session.run(TA(tf.float32, 0).stack())
    assert run(TA(tf.float32, 0, element_shape=[2]).stack()).shape == (0, 2)
    assert run(TA(tf.float32, 0, element_shape=[None, 2]).concat()).shape == (0, 2)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: TA(tf.float32), ValueError, "Size must be provided"),
        (
            lambda: TA(tf.float32, handle=tf.constant(1), tensor_array_name="k"),
            ValueError,
            "both a handle and tensor_array_name",
        ),
        (lambda: TA(tf.float32, handle=1), TypeError, "Handle must be a Tensor"),
        (lambda: array3().write(1, [1.0]).write(2, 2.0), ValueError, r"Inconsistent shapes: saw \(\) but expected \(1,\) $"),
        (lambda: array3().scatter([0], [1.0, 2.0]), ValueError, "Dimensions must be equal, but are 2 and 1"),
        (lambda: array3().scatter([[0]], [1.0]), ValueError, "Shape must be rank 1 but is rank 2"),
    ],
)
def test_errors_at_construction(build, error, text):
    with pytest.raises(error, match=text):
        build()


@pytest.mark.parametrize(
    "write",
    [
        lambda value: array3().write(1, value[0]),
        lambda value: array3().scatter([0, 1], value),
        lambda value: array3().unstack(value),
    ],
)
def test_values_of_other_types_are_refused_when_they_are_written(write):
    written = write(tf.constant([1, 2])).flow
    with pytest.raises(InvalidArgumentError, match="TensorArray dtype is float but Op is trying to write dtype int32"):
        run(written)


def test_gradients_need_a_name_that_tells_them_apart():
    x = tf.placeholder(tf.float32, [3])
    with pytest.raises(ValueError, match="Expected op/tensor name to start with gradients"):
        tf.gradients(TA(tf.float32, 3).unstack(x).read(1), x, name="other")


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda: array3().read(5), OutOfRangeError, "read from index 5 but array size is: 3"),
        (lambda: array3().read(-1), OutOfRangeError, "Reading from negative indices"),
        (lambda: array3().write(5, 1.0), OutOfRangeError, "write to index 5 but array is not resizeable and size is: 3"),
        (lambda: array3().write(-1, 1.0), OutOfRangeError, "Writing to negative indices"),
        (lambda: array3().scatter([0, 7], [1.0, 2.0]), OutOfRangeError, "write to index 7"),
        (lambda: array3().unstack([1.0, 2.0, 3.0, 4.0]), ValueError, "Cannot unstack 4 tensors"),
        (lambda: array3().split([1.0, 2.0], 1), InvalidArgumentError, r"lengths to be a vector, received shape: \[\]"),
        (lambda: array3().split(1.0, [1]), InvalidArgumentError, r"value to be at least a vector, but received shape: \[\]"),
        (lambda: array3().split([1.0, 2.0], [1]), InvalidArgumentError, r"sum of lengths is 1 and value's shape is: \[2\]"),
        (
            lambda: array3().split([1.0, 2.0], [1, 1]),
            InvalidArgumentError,
            r"size of lengths \(3 vs. 2\), and the TensorArray",
        ),
        (lambda: TA(tf.float32, handle=tf.constant(1.0)), ValueError, "handles are not supported when eager execution"),
    ],
)
def test_places_are_checked_where_ops_run_at_once(act, error, text):
    with eager_mode(), pytest.raises(error, match=text):
        act()


def test_what_ran_at_once_is_read_once():
    with eager_mode():
        array = TA(tf.float32, 2).unstack([1.0, 2.0])
        assert array.read(0).numpy() == 1
        with pytest.raises(InvalidArgumentError, match="Could not read index 0 twice"):
            array.read(0)
        assert array.write(0, 3.0).read(0).numpy() == 3
        kept = TA(tf.float32, 1, clear_after_read=False).write(0, 5.0)
        assert (kept.read(0) + kept.read(0)).numpy() == 10


def test_places_of_what_ran_at_once_are_integers_of_any_type():
    with eager_mode():
        texts = TA(tf.string, tf.constant(3, tf.int64)).write(tf.constant(1, tf.int64), "a")
        assert texts.stack().numpy().tolist() == [b"", b"a", b""]


def test_what_is_gathered_several_times_at_once_gets_all_its_gradients():
    with eager_mode():
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            gathered = tf.TensorArray(tf.float32, size=3).unstack(x).gather([2, 0, 2])
        assert gathered.numpy().tolist() == [3, 1, 3]
        assert tape.gradient(gathered, x, tf.constant([10.0, 20.0, 30.0])).numpy().tolist() == [20, 0, 40]


def test_the_size_of_what_ran_at_once():
    with eager_mode():
        assert TA(tf.float32, 0).stack().shape == [0]
        assert TA(tf.float32, 3).unstack([1.0, 2.0]).size().numpy() == 2
        assert TA(tf.float32, 1, dynamic_size=True).write(4, 1.0).size().numpy() == 5


def test_what_runs_at_once_changes_the_array_itself():
    with eager_mode():
        array, x = TA(tf.float32, 3), tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            for i in range(3):
                array.write(i, x[i] ** 2)
            total = tf.reduce_sum(array.identity().stack())
        assert tape.gradient(total, x).numpy().tolist() == [2, 4, 6]
        array.unstack([4.0, 5.0, 6.0])
        array.scatter([0, 2], [7.0, 8.0])
        assert array.stack().numpy().tolist() == [7, 5, 8]
        pieces = TA(tf.float32, 2, infer_shape=False)
        assert pieces.split(x, [2, 1]) is pieces and pieces.read(1).numpy().tolist() == [3]


def test_the_log_tells_of_a_write_that_nobody_uses(caplog):
    with tf.Graph().as_default():
        array = tf.TensorArray(tf.float32, 3)
        for lost in (
            lambda: array.write(0, 1.0),
            lambda: array.unstack([1.0, 2.0, 3.0]),
            lambda: array.split([1.0], [1, 0, 0]),
        ):
            caplog.clear()
            lost()
            (record,) = caplog.records
            assert record.levelname == "ERROR"
            assert "Object was never used (type TensorArray)" in record.message
            assert "test_tensor_array.py:" in record.message
        caplog.clear()
        array.write(0, 1.0).mark_used()
        array.write(0, 1.0).write(1, 2.0).stack()
        tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, 1.0)), [0, array])
        written = array.write(0, 1.0)
        assert isinstance(written, tf.TensorArray)
        assert written.dtype is tf.float32
        assert type(written) is tf.TensorArray
    assert not caplog.records


def gathered(element_shape, asked, *written):
    handle, flow = tf.raw_ops.TensorArrayV3(size=2, dtype=tf.float32, element_shape=element_shape)
    for value in written:
        flow = tf.raw_ops.TensorArrayWriteV3(handle=handle, index=0, value=value, flow_in=flow)
    return tf.raw_ops.TensorArrayGatherV3(handle=handle, indices=[0, 1], flow_in=flow, dtype=tf.float32, element_shape=asked)


def test_the_shape_that_is_asked_for_is_that_of_elements_never_written():
    assert run(gathered(None, [2], [5.0, 7.0])).tolist() == [[5, 7], [0, 0]]
    assert run(gathered([2, None], [None, 1])).tolist() == [[[0], [0]], [[0], [0]]]
    with pytest.raises(InvalidArgumentError, match=r"Incompatible shapes during merge: \[3\] vs. \[2\]"):
        run(gathered([3], [2]))
    with pytest.raises(InvalidArgumentError, match=r"passed element_shape \[3\] which does not match .* index 0: \[2\]"):
        run(gathered([None], [3], [5.0, 7.0]))
    handle, flow = tf.raw_ops.TensorArrayV3(size=1, dtype=tf.float32, element_shape=[1, 2])
    rows, _ = tf.raw_ops.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.float32, element_shape_except0=[3])
    with pytest.raises(InvalidArgumentError, match=r"passed element_shape_except0 \[3\] which does not match"):
        run(rows)


@pytest.mark.parametrize("is_split", [True, False])
def test_gradients_of_what_was_given_at_once_leave_out_what_was_written_behind(is_split):
    x, array = tf.constant([1.0, 2.0, 3.0]), TA(tf.float32, 3, dynamic_size=True)
    if is_split:
        whole = array.split(x, [1, 1, 1]).write(3, [4.0]).concat()
    else:
        whole = array.unstack(x).write(3, 4.0).stack()
    np.testing.assert_array_equal(run(whole), [1, 2, 3, 4])
    np.testing.assert_array_equal(run(tf.gradients(whole * [1.0, 2.0, 3.0, 4.0], x))[0], [1, 2, 3])


def test_texts_and_lengths_of_any_integer_type():
    words = TA(tf.string, 3).unstack(tf.constant(["a", "bc", "def"]))
    assert run([words.read(1), words.read(2)]) == [b"bc", b"def"]
    pieces = TA(tf.string, 2, infer_shape=False).split(["a", "bc", "def"], tf.constant([1, 2], tf.int32))
    assert run(pieces.read(1)).tolist() == [b"bc", b"def"]


def test_arrays_of_one_name_have_names_of_their_own_in_errors():
    with tf.Graph().as_default(), tf.Session() as session:
        flow = tf.TensorArray(tf.float32, 1, tensor_array_name="foo").write(0, 1.0).write(0, 2.0).flow
        with pytest.raises(InvalidArgumentError, match=r"TensorArray foo_\d+: Could not write"):
            session.run(flow)


def test_lists_that_cannot_be_concatenated_say_which_element_is_in_the_way():
    for elements, text in (
        ([3.0, 4.0, [3.0]], "Concat saw a scalar shape at index 0"),
        ([[3.0], [4.0], [[3.0]]], "Incompatible ranks"),
        ([[[3.0]], [[4.0, 2.0]], [[3.0]]], r"Incompatible shapes: \(1,\) vs. \(2,\)"),
    ):
        with new_eager_world().as_default():
            array = tf.TensorArray(tf.float32, 3, infer_shape=False)
            for i, element in enumerate(elements):
                array = array.write(i, element)
            with pytest.raises(InvalidArgumentError, match=text):
                array.concat()
