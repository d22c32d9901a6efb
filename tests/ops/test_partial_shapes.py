"""What is known before running of outputs, where little is known of inputs, as recorded from TensorFlow 2.21."""

import pytest

import tfexp as tf

ops = tf.raw_ops


def x(*dims):
    """A placeholder of these dimensions, None for one that is unknown; of unknown rank for (...)."""
    return tf.placeholder(tf.float32, None if dims == (...,) else dims)


def i(*dims):
    return tf.placeholder(tf.int32, None if dims == (...,) else dims)


def shown(value):
    """The shapes of tensors, with ? for what is unknown."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(shown, value))
    return "?" if value.shape.ndims is None else str(value.shape.as_list()).replace("None", "?").replace(" ", "")


def sliced(begin, end, strides, **masks):
    return ops.StridedSlice(input=x(None, 7, 3), begin=begin, end=end, strides=strides, **masks)


def conv3d_input_gradient(sizes):
    return ops.Conv3DBackpropInputV2(
        input_sizes=sizes, filter=x(2, 2, 1, 2, 3), out_backprop=x(7, 2, 2, 2, 3), strides=[1] * 5, padding="VALID"
    )


def sparse_sum(*dims):
    """The parts of the sum of two sparse tensors, of unknown shapes for None."""
    both = [
        tf.SparseTensor(tf.placeholder(tf.int64), tf.placeholder(tf.float32), tf.placeholder(tf.int64) if d is None else d)
        for d in dims
    ]
    total = tf.sparse_add(*both)
    return [total.indices, total.values, total.dense_shape]


KNOWN = {
    "nothing of an unknown dimension against 0": (lambda: [x(2, 0) + x(None), tf.maximum(x(None), x(0))], "[2,?] [?]"),
    "an unknown dimension against more": (lambda: x(None, 1) * x(3, None), "[3,?]"),
    "batches against 0": (lambda: tf.matmul(x(None, 2, 3), x(0, 3, 5)), "[?,2,5]"),
    "a product that broadcasts": (lambda: ops.BatchMatMulV2(x=x(2, 3, 5), y=x(...)), "?"),
    "offsets": (lambda: ops.ConcatOffset(concat_dim=0, shape=[i(...), i(None), i(3)]), "? [?] [3]"),
    "sizes in three dimensions": (lambda: conv3d_input_gradient(i(5)), "[?,?,?,?,?]"),
    "sizes in three dimensions, partly": (
        lambda: conv3d_input_gradient(tf.stack([i(), i(), 3, 3, 2])),
        "[?,?,3,3,2]",
    ),
    "a system of which one side is unknown": (
        lambda: [
            *[ops.MatrixSolve(matrix=x(*m), rhs=x(...)) for m in ((3, 3), (5, None, 3), (None, None), (...,))],
            *[ops.MatrixSolve(matrix=x(...), rhs=x(*rhs)) for rhs in ((3, 2), (5, 3, 2))],
        ],
        "[3,?] [5,3,?] [?,?] ? [3,2] [5,3,2]",
    ),
    "a sparse sum": (lambda: sparse_sum(None, [2, 3]), "[?,?] [?] [?]"),
    "a sparse sum of a known rank": (lambda: sparse_sum([2, 3], None), "[?,2] [?] [2]"),
    "a sparse sum of a known shape": (lambda: sparse_sum([2, 3], [2, 3]), "[?,2] [?] [2]"),
    "a slice of unknown strides": (
        lambda: [sliced([1, 1, 1], [5, 1, 3], i(3)), sliced(i(1), i(1), i(1), shrink_axis_mask=1)],
        "? ?",
    ),
    "a slice of unknown bounds": (
        lambda: [
            sliced(i(1), i(1), [1]),
            sliced(i(2), i(2), [1, 1], shrink_axis_mask=1),
            sliced(i(1), [1], [1], begin_mask=1),
        ],
        "[?,7,3] [?,3] [?,7,3]",
    ),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known(case):
    make, shapes = KNOWN[case]
    with tf.Graph().as_default():
        assert shown(make()) == shapes


def substr(pos, length):
    return ops.Substr(input=["a", "b"], pos=pos, len=length)


REFUSED = {
    "one update": (
        lambda: ops.ScatterNd(indices=i(None, None), updates=x(), shape=i(None)),
        "Shape must be at least rank 1 but is rank 0",
    ),
    "lengths, of which more is known": (lambda: substr(i(None), i(2)), "pos and len shapes must match: [?] vs. [2]"),
    "lengths of a higher rank": (lambda: substr(i(1), i(2, 2)), "Shape must be rank 2 but is rank 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, text = REFUSED[case]
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        make()
    assert text in str(caught.value)
