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


def lstm_grad(x_, cs_prev):
    names = ["h_prev", "w", "wci", "wcf", "wco", "b", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"]
    return ops.LSTMBlockCellGrad(x=x_, cs_prev=cs_prev, use_peephole=False, **{name: x(...) for name in names})


def sliced(begin, end, strides, **masks):
    return ops.StridedSlice(input=x(None, 7, 3), begin=begin, end=end, strides=strides, **masks)


def conv3d_input_gradient(sizes):
    return ops.Conv3DBackpropInputV2(
        input_sizes=sizes, filter=x(2, 2, 1, 2, 3), out_backprop=x(7, 2, 2, 2, 3), strides=[1] * 5, padding="VALID"
    )


def suppressed(boxes, scores):
    return ops.CombinedNonMaxSuppression(
        boxes=boxes,
        scores=scores,
        max_output_size_per_class=5,
        max_total_size=13,
        iou_threshold=0.5,
        score_threshold=0.25,
    )


def sparse_sum(*dims):
    """The parts of the sum of two sparse tensors, of unknown shapes for None."""
    both = [
        tf.SparseTensor(tf.placeholder(tf.int64), tf.placeholder(tf.float32), tf.placeholder(tf.int64) if d is None else d)
        for d in dims
    ]
    total = tf.sparse_add(*both)
    return [total.indices, total.values, total.dense_shape]


WINDOW = {"strides": [1] * 4, "rates": [1] * 4, "padding": "VALID"}

KNOWN = {
    "nothing of an unknown dimension against 0": (lambda: [x(2, 0) + x(None), tf.maximum(x(None), x(0))], "[2,?] [?]"),
    "an unknown dimension against more": (lambda: x(None, 1) * x(3, None), "[3,?]"),
    "batches against 0": (lambda: tf.matmul(x(None, 2, 3), x(0, 3, 5)), "[?,2,5]"),
    "a product without the left side": (lambda: ops.BatchMatMul(x=x(...), y=x(2, 3, 5)), "[2,?,5]"),
    "a product without the right side": (lambda: ops.BatchMatMul(x=x(2, 3, 5), y=x(...), adj_x=True), "[2,5,?]"),
    "a product that broadcasts": (lambda: ops.BatchMatMulV2(x=x(2, 3, 5), y=x(...)), "?"),
    "images of boxes": (lambda: suppressed(x(None, 11, 1, 4), x(2, 11, 3)), "[?,13,4] [?,13] [?,13] [?]"),
    "images of boxes of scores": (lambda: suppressed(x(2, 11, 1, 4), x(None, 11, 3)), "[2,13,4] [2,13] [2,13] [2]"),
    "offsets": (lambda: ops.ConcatOffset(concat_dim=0, shape=[i(...), i(None), i(3)]), "? [?] [3]"),
    "sizes in three dimensions": (lambda: conv3d_input_gradient(i(5)), "[?,?,?,?,?]"),
    "sizes in three dimensions, partly": (
        lambda: conv3d_input_gradient(tf.stack([i(), i(), 3, 3, 2])),
        "[?,?,3,3,2]",
    ),
    "boxes of a gradient": (
        lambda: ops.CropAndResizeGradBoxes(grads=x(...), image=x(...), boxes=x(...), box_ind=i(...)),
        "?",
    ),
    "a dilation's input": (
        lambda: ops.Dilation2DBackpropInput(input=x(...), filter=x(...), out_backprop=x(...), **WINDOW),
        "?",
    ),
    "a dilation's filter": (
        lambda: ops.Dilation2DBackpropFilter(input=x(...), filter=x(...), out_backprop=x(...), **WINDOW),
        "?",
    ),
    "a dilation without rows": (lambda: ops.Dilation2D(input=x(2, None, 3, None), filter=x(2, 2, 5), **WINDOW), "[2,?,?,5]"),
    "a dilation": (lambda: ops.Dilation2D(input=x(2, 5, 3, None), filter=x(2, 2, 5), **WINDOW), "[2,4,2,5]"),
    "a dilation by filters of unknown depth": (
        lambda: [ops.Dilation2D(input=x(2, 5, 3, 7), filter=f, **WINDOW) for f in (x(2, 2, None), x(...))],
        "[2,4,2,?] [2,?,?,?]",
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
    "what is unique along an axis": (lambda: ops.UniqueV2(x=x(3, 5), axis=[-1]), "[?,?] [5]"),
    "what is unique along some axis": (lambda: ops.UniqueV2(x=x(3, 5), axis=i(1)), "[?,?] [?]"),
    "what is unique in a vector": (
        lambda: ops.UniqueWithCountsV2(x=x(3), axis=tf.constant([], tf.int64)),
        "[?] [3] [?]",
    ),
    "a tridiagonal system": (
        lambda: [
            ops.TridiagonalSolve(diagonals=x(2, 3, 5), rhs=x(None, None, 7)),
            ops.TridiagonalSolve(diagonals=x(2, 3, 5), rhs=x(...)),
        ],
        "[?,?,7] ?",
    ),
    "channels": (
        lambda: ops.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=x(None, 2), inputs=x(...), min=x(None), max=x(None)),
        "[?,2] [2] [2]",
    ),
    "matrices with a diagonal": (lambda: ops.MatrixSetDiag(input=x(None, 4, None), diagonal=x(2, None)), "[2,4,?]"),
    "some matrices with a diagonal": (lambda: ops.MatrixSetDiag(input=x(...), diagonal=x(2, 3)), "[2,?,?]"),
    "the rows of an LSTM's gradients": (
        lambda: lstm_grad(x(3, 2), x(None, 5)),
        "[3,5] [3,20] [5] [5] [5]",
    ),
    "the units of an LSTM's gradients": (lambda: lstm_grad(x(...), x(3, 5)), "[?,5] [?,20] [5] [5] [5]"),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known(case):
    make, shapes = KNOWN[case]
    with tf.Graph().as_default():
        assert shown(make()) == shapes


def sparse_pair(indices, values, dims):
    parts = [(tf.int64, indices), (tf.float32, values), (tf.int64, dims), (tf.int64, (2, 2)), (tf.float32, 2), (tf.int64, 2)]
    names = ["a_indices", "a_values", "a_shape", "b_indices", "b_values", "b_shape"]
    return ops.SparseSparseMinimum(**{name: tf.placeholder(t, shape) for name, (t, shape) in zip(names, parts, strict=True)})


def substr(pos, length):
    return ops.Substr(input=["a", "b"], pos=pos, len=length)


REFUSED = {
    "batches that differ": (lambda: ops.BatchMatMul(x=x(1, 3, 5), y=x(2, 5, 1)), "Shapes are [1] and [2]."),
    "a diagonal that is too long": (
        lambda: ops.MatrixSetDiag(input=x(2, 5, 3), diagonal=x(2, 5)),
        "Dimensions must be equal, but are 3 and 5",
    ),
    "one diagonal for two matrices": (
        lambda: ops.MatrixSetDiag(input=x(2, 5, 3), diagonal=x(3)),
        "Shape must be rank 2 but is rank 1",
    ),
    "overlaps that are not square": (
        lambda: ops.NonMaxSuppressionWithOverlaps(
            overlaps=x(7, 2), scores=x(7), max_output_size=1, overlap_threshold=0.5, score_threshold=0.5
        ),
        "Dimensions must be equal, but are 7 and 2",
    ),
    "one update": (
        lambda: ops.ScatterNd(indices=i(None, None), updates=x(), shape=i(None)),
        "Shape must be at least rank 1 but is rank 0",
    ),
    "sparse indices": (lambda: sparse_pair([2], 3, 2), "Shape must be rank 2 but is rank 1"),
    "sparse values": (lambda: sparse_pair((3, 2), (3, 1), 2), "Shape must be rank 1 but is rank 2"),
    "sparse shapes": (lambda: sparse_pair((3, 2), 3, (1, 2)), "Shape must be rank 1 but is rank 2"),
    "lengths, of which more is known": (lambda: substr(i(None), i(2)), "pos and len shapes must match: [?] vs. [2]"),
    "lengths of a higher rank": (lambda: substr(i(1), i(2, 2)), "Shape must be rank 2 but is rank 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, text = REFUSED[case]
    with tf.Graph().as_default(), pytest.raises(ValueError) as caught:
        make()
    assert text in str(caught.value)
