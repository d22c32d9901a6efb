"""Partitioned variables: partitioners, parts, their slices, sharing, and use as one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.variable_store import PartitionInfo


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


THREE = tf.fixed_size_partitioner(3)

PARTITIONERS = [
    (tf.fixed_size_partitioner(5), [7, 3], tf.float32, [5, 1]),
    (tf.fixed_size_partitioner(5), [3], tf.float32, [3]),
    (tf.fixed_size_partitioner(5, axis=1), [7, 11], tf.float32, [1, 5]),
    (tf.variable_axis_size_partitioner(24), [100, 10], tf.float32, [100, 1]),
    (tf.variable_axis_size_partitioner(24), [5, 3], tf.float32, [3, 1]),
    (tf.variable_axis_size_partitioner(24), [3], tf.float32, [1]),
    (tf.variable_axis_size_partitioner(24), [3], tf.string, [3]),
    (tf.variable_axis_size_partitioner(4000, max_shards=3), [1000, 1000], tf.float32, [3, 1]),
    (tf.variable_axis_size_partitioner(100, axis=1), [7, 100], tf.float32, [1, 34]),
    (tf.variable_axis_size_partitioner(100, axis=1), [7, 100], tf.float64, [1, 100]),
    (tf.min_max_variable_partitioner(), [1000, 1000], tf.float32, [1, 1]),
    (tf.min_max_variable_partitioner(10, 0, 100), [7, 100], tf.float32, [7, 1]),
    (tf.min_max_variable_partitioner(10, 0, 100), [3], tf.float32, [1]),
    (tf.min_max_variable_partitioner(10, 1, 256), [100, 10], tf.float32, [1, 10]),
]


@pytest.mark.parametrize(("partitioner", "shape", "dtype", "expected"), PARTITIONERS)
def test_partitioners(partitioner: Any, shape: list[int], dtype: Any, expected: list[int]) -> None:
    assert partitioner(shape=tf.TensorShape(shape), dtype=dtype) == expected


def test_parts_and_their_slices() -> None:
    with tf.variable_scope("parts", partitioner=THREE):
        w = tf.get_variable("w", [7, 2])
    assert isinstance(w, PartitionedVariable)
    assert not isinstance(w, tf.Variable)
    assert (w.name, w.dtype, w.shape, w.get_shape(), len(w)) == ("parts/w", tf.float32, [7, 2], [7, 2], 3)
    assert [v.name for v in w] == ["parts/w/part_0:0", "parts/w/part_1:0", "parts/w/part_2:0"]
    assert [v.get_shape().as_list() for v in w] == [[3, 2], [2, 2], [2, 2]]
    assert tf.global_variables() == tf.trainable_variables() == list(w)
    infos = [v._get_save_slice_info() for v in w]
    assert [info.spec for info in infos] == ["7 2 0,3:0,2", "7 2 3,2:0,2", "7 2 5,2:0,2"]
    proto = infos[1].to_proto()
    assert (proto.full_name, list(proto.full_shape), list(proto.var_offset), list(proto.var_shape)) == (
        "parts/w",
        [7, 2],
        [3, 0],
        [2, 2],
    )
    again = tf.Variable.from_proto(list(w)[1].to_proto())
    assert again._get_save_slice_info().spec == infos[1].spec
    assert tf.Variable.SaveSliceInfo("n", [5], [2], [3]).to_proto(export_scope="other") is None


def test_parts_along_another_dimension_and_single_parts() -> None:
    y = tf.get_variable("y", [2, 5], partitioner=tf.fixed_size_partitioner(2, axis=1))
    assert [v.get_shape().as_list() for v in y] == [[2, 3], [2, 2]]
    assert [v._get_save_slice_info().var_offset for v in y] == [[0, 0], [0, 3]]
    one = tf.get_variable("one", [5, 2], partitioner=tf.fixed_size_partitioner(1))
    assert [v.name for v in one] == ["one/part_0:0"]
    scalar = tf.get_variable("scalar", [], partitioner=THREE)
    assert isinstance(scalar, tf.Variable)


def test_initial_values() -> None:
    """Values are cut, initializers know the whole: Glorot's limit is that of the full shape."""
    whole = np.arange(14, dtype=np.float32).reshape(7, 2)
    v = tf.get_variable("v", [7, 2], initializer=tf.constant(whole), partitioner=THREE)
    w = tf.get_variable("w", initializer=whole, partitioner=THREE)
    seen: list[Any] = []

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        seen.append((shape, partition_info.full_shape, partition_info.var_offset, partition_info.single_offset(shape)))
        return tf.ones(shape, dtype)

    x = tf.get_variable("x", [7, 2], initializer=initializer, partitioner=THREE)
    tf.get_variable("glorot", [7, 3], partitioner=THREE)
    high = tf.get_default_graph().get_operation_by_name("glorot/part_0/Initializer/random_uniform/max")
    assert high.get_attr("value").float_val[0] == pytest.approx((6 / 10) ** 0.5)
    assert seen == [([3, 2], [7, 2], [0, 0], 0), ([2, 2], [7, 2], [3, 0], 3), ([2, 2], [7, 2], [5, 0], 5)]
    assert list(v)[1].initial_value.op.name == "v/part_1/PartitionedInitializer/Slice"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable in (v, w):
            np.testing.assert_array_equal(session.run(tf.identity(variable)), whole)
            np.testing.assert_array_equal(np.concatenate(session.run(list(variable))), whole)
        np.testing.assert_array_equal(session.run(x.as_tensor()), np.ones([7, 2]))


def test_use_as_one_tensor(graph: Any) -> None:
    w = tf.get_variable("w", [5, 3], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    joined = [w.as_tensor(), tf.convert_to_tensor(w), tf.matmul(w, tf.ones([3, 2])), w @ tf.ones([3, 2])]
    assert [t.op.name for t in joined[:2]] == ["w", "w_1"]
    assert graph.get_operation_by_name("w/ConcatPartitions/concat").type == "ConcatV2"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run(joined)
    assert [x.shape for x in got] == [(5, 3), (5, 3), (5, 2), (5, 2)]
    assert got[3].tolist() == [[3.0, 3.0]] * 5
    with pytest.raises(
        ValueError, match="Incompatible type conversion requested to type 'int32' for variable of type 'float32'"
    ):
        tf.convert_to_tensor(w, dtype=tf.int32)
    with pytest.raises(TypeError):
        w + 1.0


def test_assignment_goes_to_the_parts() -> None:
    w = tf.get_variable("w", [5, 2], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2))
    value = np.arange(10, dtype=np.float32).reshape(5, 2)
    assign, add, sub = w.assign(value, name="set"), w.assign_add(value), w.assign_sub(value * 3)
    assert [t.op.name for t in assign] == ["set", "set_1"]
    assert [op.type for op in w.assign_add(value, read_value=False)] == ["AssignAdd", "AssignAdd"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for op, factor in ((assign, 1), (add, 2), (sub, -1)):
            session.run(op)
            np.testing.assert_array_equal(np.concatenate(session.run(list(w))), value * factor)


def test_sharing() -> None:
    with tf.variable_scope("s"):
        w = tf.get_variable("w", [7, 2], partitioner=THREE)
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("w", [7, 2], partitioner=THREE) is w
        assert tf.get_variable("w", [7, 2]) is w
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE, partitioner=THREE):
        assert tf.get_variable("w", [7, 2]) is w


def test_create_partitioned_variables() -> None:
    p = tf.create_partitioned_variables([6, 2], [3, 1], tf.zeros_initializer())
    q = tf.create_partitioned_variables(
        [6, 2], [1, 2], tf.ones([6, 2]) * 2.0, name="q", trainable=False, collections=["mine"]
    )
    one = tf.create_partitioned_variables([6, 2], [1, 1], tf.zeros_initializer())
    assert [v.name for v in p] == [f"PartitionedVariable/part_{i}:0" for i in range(3)]
    assert [(v.name, v.shape.as_list()) for v in q] == [("q/part_0:0", [6, 1]), ("q/part_1:0", [6, 1])]
    assert [v.name for v in one] == ["PartitionedVariable_1/part_0:0"]
    assert tf.get_collection("mine") == q
    assert tf.trainable_variables() == [*p, *one]
    assert tf.create_partitioned_variables([6, 2], [1, 2], None, name="q", reuse=True) == q


def test_a_variable_that_is_no_part_is_refused() -> None:
    a, b = tf.get_variable("a", [2]), tf.get_variable("b", [3])
    with pytest.raises(ValueError, match=r"must have a save_slice_info available: ..a:0., .b:0..; a:0 has none"):
        PartitionedVariable("whole", tf.TensorShape([5]), tf.float32, [a, b], [2])
    with pytest.raises(ValueError, match="may not be empty"):
        PartitionedVariable("whole", tf.TensorShape([5]), tf.float32, [], [2])


def test_parts_that_were_made_by_hand() -> None:
    parts = [tf.Variable([1.0 + i]) for i in range(2)]
    for i, part in enumerate(parts):
        part._set_save_slice_info(tf.Variable.SaveSliceInfo(parts[0].name, [2], [i], [1]))
    whole = PartitionedVariable("whole", tf.TensorShape([2]), parts[0].dtype, parts, [2])
    assigned = whole.assign_add(tf.constant([10.0, 20.0]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(assigned) == [[11.0], [22.0]]


def get(name: str, shape: Any = None, dtype: Any = None, reuse: Any = None, **settings: Any) -> Any:
    with tf.variable_scope("s", reuse=reuse):
        return tf.get_variable(name, shape, dtype, **settings)


def by(partitions: Any) -> Any:
    return lambda shape, dtype: partitions


REUSE = "Trying to reuse partitioned variable s/w, but specified"
ERRORS = [
    (
        lambda: get("w", [7, 2], partitioner=THREE),
        ValueError,
        "Partitioned variable with name s/w already exists. Did you mean",
    ),
    (
        lambda: get("w", [7, 2]),
        ValueError,
        "No partitioner was provided, but a partitioned version of the variable was found: s/w/part_0",
    ),
    (lambda: get("v", [7, 2], partitioner=THREE), ValueError, "an unpartitioned version of the variable was found: s/v"),
    (
        lambda: get("w", [7, 3], reuse=True, partitioner=THREE),
        ValueError,
        REUSE + r" shape \(7, 3\) and found shape \(7, 2\).",
    ),
    (
        lambda: get("w", [7, 2], tf.float64, reuse=True, partitioner=THREE),
        ValueError,
        REUSE + " dtype float64 and found dtype float32.",
    ),
    (
        lambda: get("w", [7, 2], reuse=True, partitioner=by([2, 1])),
        ValueError,
        REUSE + r" partitions \[2, 1\] and found partitions \[3, 1\].",
    ),
    (lambda: get("x", [7, 2], reuse=True, partitioner=THREE), ValueError, "PartitionedVariable s/x does not exist"),
    (lambda: get("x", [2, 2], partitioner=by([2, 2])), ValueError, "Can only slice a variable along one dimension"),
    (lambda: get("x", [2, 2], partitioner=by([2])), ValueError, "does not match the Variable's rank"),
    (lambda: get("x", [2, 2], partitioner=by(2)), ValueError, "Partitioner must return a sequence, but saw: 2"),
    (lambda: get("x", [2, 2], partitioner=by([0, 1])), ValueError, "returned zero partitions for some axes"),
    (
        lambda: get("x", [2, 2], partitioner=by([3, 1])),
        ValueError,
        r"Cannot cut dimension 0 of a variable of shape \(2, 2\) into 3 parts",
    ),
    (lambda: get("x", partitioner=THREE), ValueError, "must be fully defined, but instead was <unknown>"),
    (lambda: get("x", [2, None], partitioner=THREE), ValueError, r"must be fully defined, but instead was \(2, \?\)"),
    (
        lambda: get("x", [7], partitioner=tf.fixed_size_partitioner(2, axis=1)),
        IndexError,
        r"along axis 1 when shape is only \(7,\)",
    ),
    (lambda: get("x", [7], partitioner=tf.min_max_variable_partitioner(2, axis=1)), ValueError, "along axis 1"),
    (lambda: tf.variable_axis_size_partitioner(0), ValueError, "must be positive. Currently, max_shard_bytes is 0"),
    (lambda: tf.variable_axis_size_partitioner(8, max_shards=0), ValueError, "max_shards must be positive"),
    (lambda: tf.variable_axis_size_partitioner(8)(shape=[2], dtype=tf.float32), ValueError, "shape is not a TensorShape"),
    (lambda: tf.create_partitioned_variables([6, 2], [3], None), ValueError, "must have the length"),
    (lambda: tf.create_partitioned_variables([], [], None), ValueError, "must have rank at least 1"),
]


@pytest.mark.parametrize(("build", "error", "message"), ERRORS)
def test_errors(build: Any, error: type[Exception], message: str) -> None:
    get("w", [7, 2], partitioner=THREE)
    get("v", [7, 2])
    with pytest.raises(error, match=message):
        build()


def test_what_initializers_are_told_of_a_part() -> None:
    info = PartitionInfo([10, 7], [0, 2])
    assert info.single_slice_dim([10, 5]) == 1 and info.single_offset([10, 3]) == 2
    assert PartitionInfo([10, 7], [0, 0]).single_slice_dim([10, 7]) is None


@pytest.mark.parametrize(
    ("arguments", "shape", "error", "message"),
    [
        ((4, [0]), [], TypeError, "`full_shape` must be a sequence"),
        (([4], 0), [], TypeError, "`var_offset` must be a sequence"),
        (([4, 4], [0]), [], ValueError, "`var_offset` is of length 1 while full_shape is of length 2"),
        (([4, 4], [0, 4]), [], ValueError, "found offset=4, shape=4"),
        (([4, 4], [-1, 0]), [], ValueError, "found offset=-1"),
        (([4, 4], [0, 0]), [4], ValueError, r"Expected equal length, but shape=\[4\]"),
        (([4, 4], [0, 2]), [4, 3], ValueError, "would exceed .* in dimension 1"),
        (([4, 4], [0, 0]), [3, 3], ValueError, "either dimension 1 or 0"),
    ],
)
def test_parts_that_cannot_be(arguments: Any, shape: list[int], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        PartitionInfo(*arguments).single_slice_dim(shape)


def test_parts_are_assigned_from_lists_and_from_other_parts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (
            tf.get_variable(name, initializer=[1.0, 2.0], partitioner=tf.fixed_size_partitioner(2)) for name in ("x", "y")
        )
        added = [x.assign_add([tf.constant([2.0]), [3.0]]), y.assign(x), x.assign_sub(y.assign(tf.constant([5.0, 7.0])))]
        with pytest.raises(AssertionError, match="1 values for 2 parts"):
            x.assign([tf.constant([1.0])])
        session.run(tf.global_variables_initializer())
        assert [np.concatenate(session.run(each)).tolist() for each in added] == [[3, 5], [3, 5], [-2, -2]]


def test_a_tensor_says_of_what_type_the_parts_are_and_reading_waits_for_nothing() -> None:
    with tf.Graph().as_default():
        parts = tf.create_partitioned_variables([4], [2], tf.constant([1, 2, 3, 4]), dtype=tf.float64)
        assert [part.dtype.base_dtype for part in parts] == [tf.int32] * 2
        whole = tf.get_variable("x", initializer=tf.constant([1, 2]), partitioner=tf.fixed_size_partitioner(2))
        assert whole.dtype == tf.int32
        with tf.control_dependencies([tf.constant(1.0)]):
            assert whole.as_tensor().op.inputs[0].op.inputs[2].op.control_inputs == []
            assert whole._concat().op.inputs[0].op.inputs[2].op.control_inputs != []
