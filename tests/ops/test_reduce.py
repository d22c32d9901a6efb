"""Rows of the reductions, running sums, arg-extremes, and the products of axes that gradients are summed over."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError

NUMBERS = ["float32", "float64", "int32", "int64", "complex64"]
REAL = ["float32", "float64", "int32"]
ERRORS = [
    Error([(2, 3), np.int32(2)], ValueError, "Invalid reduction dimension 2 for input with 2 dimensions", constants=True),
    Error([(2, 3), np.int32([-3])], ValueError, "Invalid reduction dimension -3 for input with 2", constants=True),
    Error([(2, 3), np.int32([[0, 1]])], ValueError, "Shape must be at most rank 1 but is rank 2"),
    Error([(2, 3), np.int32(2)], InvalidArgumentError, "Invalid reduction dimension (2 for input with 2 dimension(s)"),
]


def moved(x, axes):
    """The reduced axes joined at the end: how the references see every reduction as one along the last axis."""
    axes = sorted(a % x.ndim for a in np.ravel(axes).tolist())
    kept = [i for i in range(x.ndim) if i not in axes]
    return np.transpose(x, kept + axes).reshape([x.shape[i] for i in kept] + [-1]), axes


def reduction(op, along, dtypes=None, low=-2.0, high=2.0, **options):
    """Rows over one axis, several, all, none, kept, and of an empty tensor."""

    def reference(keep):
        def reduce(x, axes):
            joined, where = moved(x, axes)
            result = np.array([along(row) for row in joined.reshape(-1, joined.shape[-1])], x.dtype)
            result = result.reshape(joined.shape[:-1])
            return np.expand_dims(result, tuple(where)) if keep else result

        return reduce

    shapes = {
        "first": [(2, 3, 5), np.int32(0)],
        "last": [(2, 3, 5), np.int32([-1])],
        "two": [(2, 3, 5), np.int64([2, 0])],
        "all": [(2, 3), np.int32([0, 1])],
        "none": [(2, 3), np.zeros(0, np.int32)],
        "columns": [(11, 13), np.int32([0])],
        "scalar": [(), np.zeros(0, np.int32)],
    }
    for label, inputs in shapes.items():
        small = label != "columns"
        for keep in (False, True):
            yield OpCase(
                op,
                inputs,
                reference(keep),
                {"keep_dims": keep},
                dtypes=dtypes or NUMBERS,
                low=low,
                high=high,
                label=f"{label}{' kept' if keep else ''}",
                gradient=None if small else (),
                errors=ERRORS if label == "all" else (),
                **options,
            )


def product(row):
    result = row.dtype.type(1)
    for x in row:
        result = result * x
    return result


def total(row):
    result = row.dtype.type(0)
    for x in row:
        result = result + x
    return result


def mean(row):
    return int(total(row) / len(row)) if row.dtype.kind == "i" else total(row) / row.dtype.type(len(row))


REDUCTIONS = [
    *reduction("Sum", total, tolerance=1e-5),
    *reduction("Mean", mean, tolerance=1e-5),
    *reduction("Prod", product, low=0.5, high=1.5, tolerance=1e-4),
    *reduction("Max", lambda row: sorted(row)[-1], REAL, second=False),
    *reduction("Min", lambda row: sorted(row)[0], REAL, second=False),
]
# The column-wise sum has a gradient too: only its numeric check is left to the smaller rows.
REDUCTIONS = [
    case if case.gradient is None else OpCase(**{**case.__dict__, "gradient": None, "dtypes": [*case.dtypes[:2]]})
    for case in REDUCTIONS
]
BOOL = [
    OpCase(op, inputs, reference, {"keep_dims": False}, dtypes=["bool"], label=label)
    for op, reference in (
        ("All", lambda x, axes: np.prod(x, axis=tuple(np.ravel(axes)), dtype=np.int64) == 1),
        ("Any", lambda x, axes: np.sum(x, axis=tuple(np.ravel(axes))) > 0),
    )
    for label, inputs in (("axis", [(2, 3), np.int32(1)]), ("all", [(2, 3), np.int32([0, 1])]))
]
EMPTY = [
    OpCase(op, [np.zeros((0, 3), dtype), np.int32(0)], np.full(3, value, dtype), label=f"empty {dtype}")
    for op, dtype, value in (
        ("Sum", "float32", 0),
        ("Prod", "int32", 1),
        ("Max", "float32", -np.inf),
        ("Max", "int32", -(2**31)),
        ("Min", "float32", np.inf),
        ("Min", "int64", 2**63 - 1),
        ("Mean", "float32", np.nan),
    )
]
SPECIAL = [
    OpCase("Max", [np.float32([1, np.nan, 2]), np.int32(0)], np.float32(np.nan), label="nan"),
    OpCase("Max", [np.float32([[1, 3, 3]]), np.int32(1)], np.float32([3]), label="ties"),
    OpCase("Prod", [np.float32([[2, 0, 3]]), np.int32(1)], np.float32([0]), label="zero"),
    OpCase("Mean", [np.int32([-1, -2, -4]), np.int32(0)], np.int32(-2), label="integers"),
]


def running(ufunc, neutral):
    def reference(exclusive, reverse):
        def run(x, axis):
            rows = np.moveaxis(x, int(axis), -1)
            rows = rows[..., ::-1] if reverse else rows
            out = np.empty_like(rows)
            for index in np.ndindex(rows.shape[:-1]):
                value = x.dtype.type(neutral)
                for i, element in enumerate(rows[index]):
                    after = ufunc(value, element)
                    out[(*index, i)] = value if exclusive else after
                    value = after
            return np.moveaxis(out[..., ::-1] if reverse else out, -1, int(axis))

        return run

    return reference


RUNNING = [
    OpCase(
        op,
        [(2, 3, 5), np.int32(axis)],
        running(ufunc, neutral)(exclusive, reverse),
        {"exclusive": exclusive, "reverse": reverse},
        dtypes=["float32", "float64", "int32"],
        low=0.5,
        high=1.5,
        label=f"{axis}{' exclusive' if exclusive else ''}{' reverse' if reverse else ''}",
        tolerance=1e-5,
        second=op == "Cumsum" or not exclusive,
        errors=[
            Error([(2, 3), np.int32([0])], InvalidArgumentError, "axis must be a scalar, not [1]"),
            Error([(2, 3), np.int32(-3)], InvalidArgumentError, "Expected scan axis in the range [-2, 2), but got -3"),
        ],
    )
    for op, ufunc, neutral in (("Cumsum", np.add, 0), ("Cumprod", np.multiply, 1))
    for axis, exclusive, reverse in ((0, False, False), (1, True, False), (-1, False, True), (1, True, True))
]


def position(best):
    def find(x, axis):
        rows = np.moveaxis(x, int(axis), -1)
        found = [row.tolist().index(best(row.tolist())) for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(found, np.int64).reshape(rows.shape[:-1])

    return find


ARG = [
    OpCase(
        op,
        [(2, 3, 5), np.int32(axis)],
        position(best),
        dtypes=["float32", "int32", "uint8"],
        label=f"{axis}",
        gradient=(),
        errors=[
            Error([(2, 3), np.int32(2)], ValueError, "Dimension (2) must be in the range [-2, 2)", constants=True),
            Error([(2, 3), np.int32(2)], InvalidArgumentError, "Expected dimension in the range [-2, 2), but got 2"),
            Error([(2, 0), np.int32(1)], InvalidArgumentError, "Reduction axis 1 is empty in shape [2, 0]"),
        ],
    )
    for op, best in (("ArgMax", max), ("ArgMin", min))
    for axis in (0, -2, 2)
]
ARG.append(
    OpCase("ArgMax", [(7,), np.int32(0)], lambda x, a: np.int32(np.argmax(x)), {"output_type": dtypes.int32}, label="int32")
)


def spec(*dims):
    return np.array(dims, np.int32)


BROADCAST_AXES = [
    OpCase(
        "BroadcastGradientArgs", [spec(*x), spec(*y)], [spec(*a), spec(*b)], label=f"{x}{y}", static_shape=[[None], [None]]
    )
    for x, y, a, b in (
        ((1, 3), (1, 3), (), ()),
        ((1, 3), (3,), (0,), (0,)),
        ((), (1, 1), (0, 1), (0, 1)),
        ((5, 1, 3), (1, 1, 3), (1,), (0, 1)),
        ((2, 3), (), (), (0, 1)),
        ((2, 1), (3,), (1,), (0,)),
    )
]
BROADCAST_AXES += [
    OpCase(
        "BroadcastGradientArgs",
        [spec(2, 3), spec(3)],
        [spec(), spec(0)],
        label="errors",
        static_shape=[[None], [None]],
        errors=[Error([spec(2, 3), spec(5)], InvalidArgumentError, "Incompatible shapes: [2,3] vs. [5]")],
    ),
    OpCase(
        "BroadcastArgs",
        [spec(2, 1), spec(3)],
        spec(2, 3),
        errors=[Error([spec(2, 3), spec(5)], InvalidArgumentError, "Incompatible shapes: [2,3] vs. [5]")],
    ),
]

test_reductions = op_tests(REDUCTIONS)
test_bool = op_tests(BOOL)
test_empty = op_tests(EMPTY)
test_special = op_tests(SPECIAL)
test_running = op_tests(RUNNING)
test_arg = op_tests(ARG)
test_broadcast_axes = op_tests(BROADCAST_AXES)


def test_old_spellings_of_arguments() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])
        assert tf.reduce_sum(x, reduction_indices=[1], keep_dims=True).shape.as_list() == [2, 1]
        with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
            tf.reduce_sum(x, axis=0, reduction_indices=0)
        with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
            tf.reduce_sum(x, axis=0, keepdims=True, keep_dims=True)


def test_all_axes_of_an_unknown_rank_give_a_scalar() -> None:
    with tf.Graph().as_default():
        total = tf.reduce_sum(tf.placeholder(tf.float32))
        assert total.shape.as_list() == []
        assert [op.type for op in total.graph.get_operations()] == ["Placeholder", "Rank", "Const", "Const", "Range", "Sum"]


def test_axes_named_twice_count_once() -> None:
    x, axes = np.float32([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]), np.int32([0, -2])
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.int32)
        assert session.run([tf.reduce_sum(x, axes), tf.reduce_sum(x, fed)], {fed: axes})[0].tolist() == [9.0, 18.0, 36.0]
        assert session.run(tf.reduce_max(x, fed), {fed: axes}).tolist() == [8.0, 16.0, 32.0]


def test_composite_reductions() -> None:
    x = np.array([[1.0, 2.0, 1000.0], [-1e9, -1e9, -1e9]])
    y = np.array([[0.0, 2.0, 5.0], [0.0, 0.0, -1.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.reduce_logsumexp(x, axis=1)) == pytest.approx([1000.0, -1e9 + np.log(3)])
        assert session.run(tf.reduce_logsumexp(-np.inf)) == -np.inf
        assert session.run(tf.count_nonzero(y, axis=1)).tolist() == [2, 1]
        assert session.run(tf.count_nonzero(["", "a"])) == 1


@pytest.mark.parametrize(
    ("values", "largest", "smallest"),
    [
        ([np.nan, 1.0, 2.0], 2, 1),
        ([2.0, np.nan, 1.0], 0, 2),
        ([np.nan, np.nan], 0, 0),
        ([np.nan, -np.inf], 0, 1),
        ([np.nan, np.inf], 1, 0),
    ],
)
def test_arg_extremes_pass_over_nan(values: list[float], largest: int, smallest: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        fetches = [tf.argmax(x), tf.argmin(x), tf.argmax(tf.stack([x, x]), axis=1), tf.argmin(tf.stack([x, x], 1), axis=0)]
        for _ in range(3):
            found = session.run(fetches, {x: values})
            assert [np.unique(f).tolist() for f in found] == [[largest], [smallest]] * 2
