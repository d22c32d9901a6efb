"""Rows of the convolution ops; the reference adds up window by window."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops import conv_kernels, image_blocks
from tfexp.ops.windows import lay_windows

FLOATS = ["float32", "float64"]


def padding_of(size, window, stride, padding, explicit):
    """(before, windows)"""
    if padding == "SAME":
        count = -(-size // stride)
        return max((count - 1) * stride + window - size, 0) // 2, count
    before, after = explicit
    return before, (size + before + after - window) // stride + 1


def taps(x_shape, w_shape, strides, padding, dilations, explicit):
    """Every (output position, window offset, input position) of a channels-last convolution."""
    space, window = x_shape[1:-1], w_shape[: len(x_shape) - 2]
    laid = [
        padding_of(n, (k - 1) * d + 1, s, padding, e)
        for n, k, s, d, e in zip(space, window, strides, dilations, explicit, strict=True)
    ]
    for out in np.ndindex(*[count for _, count in laid]):
        for tap in np.ndindex(*window):
            place = [
                o * s + t * d - before for o, s, t, d, (before, _) in zip(out, strides, tap, dilations, laid, strict=True)
            ]
            if all(0 <= p < n for p, n in zip(place, space, strict=True)):
                yield out, tap, tuple(place)


def conv(x, w, strides=(1, 1), padding="VALID", dilations=(1, 1), explicit=((0, 0), (0, 0)), space=None):
    places = list(taps(x.shape, w.shape, strides, padding, dilations, explicit))
    outs = space or tuple(n + 1 for n in max(out for out, _, _ in places))
    groups = x.shape[-1] // w.shape[-2]
    y = np.zeros((x.shape[0], *outs, w.shape[-1]), np.float64)
    depth, width = w.shape[-2], w.shape[-1] // groups
    for out, tap, place in places:
        for g in range(groups):
            part = x[(slice(None), *place, slice(g * depth, (g + 1) * depth))].astype(np.float64)
            y[(slice(None), *out, slice(g * width, (g + 1) * width))] += part @ w[tap][:, g * width : (g + 1) * width]
    return y.astype(x.dtype)


def conv_input(sizes, w, dy, **how):
    """By linearity: the inner product with dy of the convolution of each unit input."""
    dx = np.zeros(sizes, np.float64)
    for index in np.ndindex(*sizes):
        unit = np.zeros(sizes)
        unit[index] = 1
        dx[index] = (conv(unit, w.astype(np.float64), space=dy.shape[1:-1], **how) * dy).sum()
    return dx.astype(dy.dtype)


def conv_filter(x, sizes, dy, **how):
    dw = np.zeros(sizes, np.float64)
    for index in np.ndindex(*sizes):
        unit = np.zeros(sizes)
        unit[index] = 1
        dw[index] = (conv(x.astype(np.float64), unit, space=dy.shape[1:-1], **how) * dy).sum()
    return dw.astype(dy.dtype)


def depthwise(x, w, strides=(1, 1), padding="VALID", dilations=(1, 1)):
    depth, multiplier = w.shape[-2:]
    full = np.zeros((*w.shape[:2], depth, depth * multiplier), w.dtype)
    for c in range(depth):
        full[:, :, c, c * multiplier : (c + 1) * multiplier] = w[:, :, c]
    return conv(x, full, strides, padding, dilations)


def depthwise_filter(x, sizes, dy, **how):
    dw = np.zeros(sizes, np.float64)
    for index in np.ndindex(*sizes):
        unit = np.zeros(sizes)
        unit[index] = 1
        dw[index] = (depthwise(x.astype(np.float64), unit, **how) * dy).sum()
    return dw.astype(dy.dtype)


def depthwise_input(sizes, w, dy, **how):
    dx = np.zeros(sizes, np.float64)
    for index in np.ndindex(*sizes):
        unit = np.zeros(sizes)
        unit[index] = 1
        dx[index] = (depthwise(unit, w.astype(np.float64), **how) * dy).sum()
    return dx.astype(dy.dtype)


def second(function, *sizes_at):
    """`function` for arrays with the channels second (all but filters and sizes), results too."""

    def wrapped(*arrays):
        moved = [np.moveaxis(a, 1, -1) if i in sizes_at else a for i, a in enumerate(arrays)]
        return np.moveaxis(function(*moved), -1, 1)

    return wrapped


def attrs(strides=(1, 1), padding="VALID", dilations=(1, 1), explicit=None, **others):
    made = {"strides": [1, *strides, 1], "padding": padding, "dilations": [1, *dilations, 1], **others}
    if explicit:
        made["explicit_paddings"] = [0, 0, *[n for pair in explicit for n in pair], 0, 0]
    return made


def i32(*values):
    return np.int32(values)


SAME = {"strides": (2, 1), "padding": "SAME"}
DILATED = {"dilations": (2, 1)}
EXPLICIT = {"padding": "EXPLICIT", "explicit": ((1, 2), (0, 1))}
SMALL = {"strides": [1, 1, 1, 1], "padding": "VALID"}

CASES = [
    OpCase(
        "Conv2D",
        [(2, 5, 4, 3), (3, 2, 3, 2)],
        conv,
        attrs=SMALL,
        dtypes=[*FLOATS, "int32"],
        errors=[
            Error([(2, 3, 5), (3, 3, 5, 2)], ValueError, "Shape must be rank 4 but is rank 3"),
            Error(
                [(2, 5, 5, 3), (3, 3, 2, 2)], ValueError, "Depth of input (3) is not a multiple of input depth of filter (2)"
            ),
            Error(
                [(2, 5, 5, 4), (3, 3, 2, 5)], ValueError, "Depth of output (5) is not a multiple of the number of groups (2)"
            ),
            Error([(2, 3, 5, 3), (5, 3, 3, 2)], ValueError, "Negative dimension size caused by subtracting 5 from 3"),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)],
                ValueError,
                "Conv2D on data format NHWC requires the stride attribute to contain 4 values, but got: 3",
                attrs={"strides": [1, 1, 1]},
            ),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)], ValueError, "Stride must be > 0, but got 0", attrs={"strides": [1, 0, 1, 1]}
            ),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)],
                ValueError,
                "Dilation rate must be >= 1, but got 0",
                attrs=attrs(dilations=(0, 1)),
            ),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)],
                ValueError,
                "explicit_paddings attribute must contain 8 values, but got: 4",
                attrs={"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1]},
            ),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)],
                ValueError,
                "Nonzero explicit padding in the batch or depth dimensions is not supported",
                attrs={"padding": "EXPLICIT", "explicit_paddings": [1, 0, 1, 1, 0, 0, 0, 0]},
            ),
            Error([(2, 3, 5), (3, 3, 5, 2)], InvalidArgumentError, "convolution input must be 4-dimensional: [2,3,5]"),
            Error(
                [(2, 5, 5, 3), (3, 3, 2, 2)],
                InvalidArgumentError,
                "input depth must be evenly divisible by filter depth: 3 vs 2",
            ),
            Error(
                [(2, 3, 5, 3), (5, 3, 3, 2)],
                InvalidArgumentError,
                "Computed output size would be negative: -1 [input_size: 3",
            ),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 2)],
                InvalidArgumentError,
                "does not yet support strides in the batch and depth dimensions",
                attrs={"strides": [2, 1, 1, 1]},
            ),
        ],
    ),
    OpCase("Conv2D", [(2, 5, 4, 3), (3, 2, 3, 2)], lambda x, w: conv(x, w, **SAME), attrs=attrs(**SAME), label="same"),
    OpCase(
        "Conv2D", [(2, 5, 4, 3), (2, 2, 3, 2)], lambda x, w: conv(x, w, **DILATED), attrs=attrs(**DILATED), label="dilated"
    ),
    OpCase(
        "Conv2D",
        [(2, 5, 4, 3), (3, 2, 3, 2)],
        lambda x, w: conv(x, w, **EXPLICIT),
        attrs=attrs(**EXPLICIT),
        label="explicit",
    ),
    OpCase("Conv2D", [(2, 4, 3, 4), (2, 2, 2, 6)], conv, attrs=SMALL, label="groups"),
    OpCase("Conv2D", [(2, 4, 3, 1), (2, 2, 1, 3)], conv, attrs=SMALL, label="one channel"),
    OpCase("Conv2D", [(2, 3, 2, 5), (1, 1, 5, 3)], conv, attrs=SMALL, label="pointwise"),
    OpCase("Conv2D", [(0, 4, 3, 2), (2, 2, 2, 3)], np.zeros((0, 3, 2, 3), np.float32), attrs=SMALL, label="empty"),
    OpCase(
        "Conv2D",
        [(2, 5, 4, 3), (3, 2, 3, 2)],
        lambda x, w: conv(x.astype(np.float32), w.astype(np.float32)),
        attrs=SMALL,
        dtypes=["float16", "bfloat16"],
        gradient=(),
        numeric=False,
        label="half",
        tolerance=5e-2,
    ),
    OpCase(
        "Conv2D",
        [(2, 3, 5, 4), (3, 2, 3, 2)],
        second(conv, 0),
        attrs={**SMALL, "data_format": "NCHW"},
        label="channels second",
    ),
    OpCase(
        "Conv2DBackpropInput",
        [i32(2, 4, 3, 2), (2, 2, 2, 3), (2, 3, 2, 3)],
        conv_input,
        attrs=SMALL,
        dtypes=FLOATS,
        errors=[
            Error(
                [i32(2, 5, 5), (3, 3, 3, 5), (2, 3, 3, 5)],
                ValueError,
                "requires input_sizes to contain 4 values or 2 values, but got: 3",
                constants=True,
            ),
            Error([i32(2, 5, 5, 3), (3, 3, 3, 5), (2, 3, 3, 2)], ValueError, "Dimensions must be equal, but are 2 and 5"),
            Error(
                [i32(2, 5, 5, 3), (3, 3, 3, 5), (2, 3, 3, 2)],
                InvalidArgumentError,
                "filter and out_backprop must have the same out_depth",
            ),
            Error(
                [i32(3, 5, 5, 3), (3, 3, 3, 5), (2, 3, 3, 5)],
                InvalidArgumentError,
                "must have the same batch sizeinput batch: 3outbackprop batch: 2 batch_dim: 0",
            ),
            Error(
                [i32(2, 6, 5, 3), (3, 3, 3, 5), (2, 3, 3, 5)],
                InvalidArgumentError,
                "Size of out_backprop doesn't match computed: actual = 3, computed = 4 spatial_dim: 1 input: 6 filter: 3",
            ),
            Error([i32(2, 5, 5, 3), (3, 3, 3), (2, 3, 3, 5)], InvalidArgumentError, "filter must be 4-dimensional"),
        ],
    ),
    OpCase(
        "Conv2DBackpropInput",
        [i32(2, 5, 4, 3), (3, 2, 3, 2), (2, 3, 4, 2)],
        lambda s, w, dy: conv_input(s, w, dy, **SAME),
        attrs=attrs(**SAME),
        label="same",
    ),
    OpCase(
        "Conv2DBackpropInput",
        [i32(2, 4, 3, 4), (2, 2, 2, 6), (2, 3, 2, 6)],
        conv_input,
        attrs=SMALL,
        label="groups",
    ),
    OpCase(
        "Conv2DBackpropInput",
        [i32(2, 5, 3, 4), (2, 2, 2, 6), (2, 2, 2, 6)],
        lambda s, w, dy: conv_input(s, w, dy, strides=(2, 1)),
        attrs=attrs((2, 1)),
        label="groups and strides",
    ),
    OpCase(
        "Conv2DBackpropInput",
        [i32(4, 3), (2, 2, 2, 3), (2, 3, 2, 3)],
        lambda s, w, dy: conv_input((2, 4, 3, 2), w, dy),
        attrs=SMALL,
        label="rows and columns alone",
    ),
    OpCase(
        "Conv2DBackpropFilter",
        [(2, 4, 3, 2), i32(2, 2, 2, 3), (2, 3, 2, 3)],
        conv_filter,
        attrs=SMALL,
        dtypes=FLOATS,
        errors=[
            Error(
                [(2, 5, 5, 3), i32(3, 3, 3), (2, 3, 3, 5)], ValueError, "Shape must be rank 4 but is rank 3", constants=True
            ),
            Error([(2, 5, 5), i32(3, 3, 3, 5), (2, 3, 3, 5)], InvalidArgumentError, "input must be 4-dimensional"),
            Error(
                [(2, 5, 5, 4), i32(3, 3, 3, 5), (2, 3, 3, 5)],
                InvalidArgumentError,
                "input depth must be evenly divisible by filter depth",
            ),
        ],
    ),
    OpCase(
        "Conv2DBackpropFilter",
        [(2, 5, 4, 3), i32(3, 2, 3, 2), (2, 3, 4, 2)],
        lambda x, s, dy: conv_filter(x, s, dy, **SAME),
        attrs=attrs(**SAME),
        label="same",
    ),
    OpCase(
        "Conv2DBackpropFilter",
        [(2, 4, 3, 4), i32(2, 2, 2, 6), (2, 3, 2, 6)],
        conv_filter,
        attrs=SMALL,
        label="groups",
    ),
    OpCase(
        "Conv3D",
        [(2, 3, 4, 3, 2), (2, 3, 2, 2, 3)],
        lambda x, w: conv(x, w, (1, 2, 1), "SAME", (1, 1, 1), ((0, 0),) * 3),
        attrs={"strides": [1, 1, 2, 1, 1], "padding": "SAME"},
        dtypes=FLOATS,
        gradient_tolerance=1e-4,
        errors=[
            Error([(2, 3, 4, 5), (3, 3, 3, 4, 5)], ValueError, "Shape must be rank 5 but is rank 4"),
            Error([(2, 5, 5, 5), (3, 3, 3, 5, 5)], InvalidArgumentError, "convolution input must be 5-dimensional"),
        ],
    ),
    OpCase(
        "Conv3DBackpropInputV2",
        [i32(1, 3, 3, 2, 2), (2, 2, 1, 2, 3), (1, 2, 2, 2, 3)],
        lambda s, w, dy: conv_input(s, w, dy, **THREE),
        attrs={"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        dtypes=FLOATS,
    ),
    OpCase(
        "Conv3DBackpropFilterV2",
        [(1, 3, 3, 2, 2), i32(2, 2, 1, 2, 3), (1, 2, 2, 2, 3)],
        lambda x, s, dy: conv_filter(x, s, dy, **THREE),
        attrs={"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        dtypes=FLOATS,
    ),
    OpCase(
        "DepthwiseConv2dNative",
        [(2, 5, 4, 3), (3, 2, 3, 2)],
        depthwise,
        attrs=SMALL,
        dtypes=FLOATS,
        errors=[
            Error([(2, 5, 5, 3), (3, 3, 2, 5)], ValueError, "Dimensions must be equal, but are 3 and 2"),
            Error([(2, 5, 5, 3), (3, 3, 2, 5)], InvalidArgumentError, "input and filter must have the same depth: 3 vs 2"),
            Error(
                [(2, 5, 5, 3), (3, 3, 3, 5)],
                InvalidArgumentError,
                "only supports equal length strides in the row and column dimensions",
                attrs={"strides": [1, 1, 2, 1]},
            ),
        ],
    ),
    OpCase(
        "DepthwiseConv2dNative",
        [(2, 5, 4, 3), (3, 2, 3, 1)],
        lambda x, w: depthwise(x, w, (2, 2), "SAME", (2, 1)),
        attrs=attrs((2, 2), "SAME", (2, 1)),
        label="strided and dilated",
    ),
    OpCase(
        "DepthwiseConv2dNative",
        [(2, 3, 5, 4), (3, 2, 3, 2)],
        second(depthwise, 0),
        attrs={**SMALL, "data_format": "NCHW"},
        label="channels second",
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropInput",
        [i32(2, 4, 3, 2), (2, 2, 2, 3), (2, 3, 2, 6)],
        depthwise_input,
        attrs=SMALL,
        dtypes=FLOATS,
        errors=[Error([i32(2, 4, 3, 2), (2, 2, 2, 3), (2, 3, 3, 6)], InvalidArgumentError, "must have the shape [2,3,2,6]")],
    ),
    OpCase(
        "DepthwiseConv2dNativeBackpropFilter",
        [(2, 4, 3, 2), i32(2, 2, 2, 3), (2, 3, 2, 6)],
        depthwise_filter,
        attrs=SMALL,
        dtypes=FLOATS,
    ),
]
THREE = {"strides": (1, 1, 1), "dilations": (1, 1, 1), "explicit": ((0, 0),) * 3}
test_rows = op_tests(CASES)


@pytest.mark.parametrize("limit", [300, 5000, 50_000])
@pytest.mark.parametrize("depth", [2, 37])
def test_small_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch, limit: int, depth: int) -> None:
    """Images cut into rows, and batches into images; windows as a whole, and row by row."""
    random = np.random.default_rng(3)
    x, w = random.standard_normal((3, 7, 5, depth)), random.standard_normal((3, 2, depth, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float64, a.shape) for a in (x, w)]
        results = []
        for stride in (1, 2):
            y = tf.nn.conv2d(*inputs, [1, stride, stride, 1], "SAME")
            results += [y, *tf.gradients(tf.square(y), inputs)]
        expected = session.run(results, dict(zip(inputs, (x, w), strict=True)))
        monkeypatch.setattr(image_blocks, "BLOCK_BYTES", limit)
        monkeypatch.setattr(image_blocks, "_WORTH_SHARING", 1)
        actual = session.run(results, dict(zip(inputs, (x, w), strict=True)))
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-11, atol=1e-11)


_BY_ROWS = [
    # size, window, stride, dilation, padding, explicit
    ((11, 7), (3, 2), (1, 1), (1, 1), "SAME", ()),
    ((11, 7), (3, 2), (1, 1), (1, 1), "VALID", ()),
    ((11, 7), (3, 5), (1, 2), (2, 1), "SAME", ()),
    ((11, 7), (2, 3), (1, 3), (1, 2), "EXPLICIT", (1, 0, 2, 3)),
    ((11, 7), (1, 3), (1, 1), (1, 1), "SAME", ()),
    ((5, 7, 3), (2, 3, 2), (1, 2, 1), (1, 1, 1), "SAME", ()),
    ((11,), (3,), (1,), (3,), "VALID", ()),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("units", [5, 37])
@pytest.mark.parametrize(("size", "window", "stride", "dilation", "padding", "explicit"), _BY_ROWS)
def test_row_by_row_is_window_by_window(
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: str,
    explicit: tuple[int, ...],
    units: int,
    dtype: type,
) -> None:
    """The kernels with less copying against sums over windows, for enough channels that they are used."""
    random = np.random.default_rng(5)
    lay = lay_windows(size, window, stride, dilation, padding, explicit)
    x, w = random.standard_normal((3, *size, 67)), random.standard_normal((*window, 67, units))
    grad = random.standard_normal((3, *lay.outputs, units))
    pads = [(0, 0), *zip(lay.before, lay.after, strict=True), (0, 0)]
    padded, spread = np.pad(x, pads), np.zeros(np.pad(x, pads).shape)
    y, for_filter = np.zeros(grad.shape), np.zeros(w.shape)
    for offset in np.ndindex(*window):
        there = (slice(None), *lay.offset_slices(offset))
        y += padded[there] @ w[offset]
        spread[there] += grad @ w[offset].T
        for_filter[offset] = np.einsum("nd,no->do", padded[there].reshape(-1, 67), grad.reshape(-1, units))
    for_input = spread[(slice(None), *(slice(b, b + n) for b, n in zip(lay.before, size, strict=True)))]
    a, b, g = (array.astype(dtype) for array in (x, w, grad))
    results = (
        conv_kernels.convolve(a, b, lay),
        conv_kernels.filter_gradient(a, g, b.shape, lay),
        conv_kernels.input_gradient(g, b, lay, 67),
    )
    tolerance = {8: 1e-11, 4: 1e-4, 2: 0.06}[np.dtype(dtype).itemsize]
    for actual, expected in zip(results, (y, for_filter, for_input), strict=True):
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual, expected, tolerance, tolerance * 3)


def test_arguments() -> None:
    with tf.Graph().as_default():
        x, w = tf.zeros([2, 8, 9, 3]), tf.zeros([3, 3, 3, 5])
        assert tf.nn.conv2d(x, w, 2, "SAME").shape.as_list() == [2, 4, 5, 5]
        assert tf.nn.conv1d(x[0], w[0], 2, "SAME", data_format="NHWC").shape.as_list() == [8, 5, 5]
        assert tf.nn.conv2d(x, w, [2, 1], "SAME", dilations=1).op.get_attr("strides") == [1, 2, 1, 1]
        for call, text in (
            (lambda: tf.nn.conv2d(x, w, [2, 2, 2], "SAME"), "strides should be of length 1, 2 or 4"),
            (lambda: tf.nn.conv2d(x, w, 1, [[0, 0], [1, 1], [1, 1]]), "When padding is a list, it must be of size 4"),
            (lambda: tf.nn.conv2d(x, w, 1, "SAME", filters=w), "Cannot specify both"),
            (lambda: tf.nn.convolution(x, w, "SAME", [2, 2], [2, 2]), "not supported in conjunction"),
            (
                lambda: tf.nn.pool(x, [2, 2], "MAX", "SAME", dilations=[1]),
                "dilation_rate should be of length 1, 2 or 4 but was 1",
            ),
            (lambda: tf.nn.pool(x, [2, 2], "MAX", "SAME", strides=[0, 1]), "all values of strides must be positive"),
            (lambda: tf.nn.pool(x, [2, 2], "FOO", "SAME"), "2-D FOO pooling is not supported"),
            (lambda: tf.nn.pool(x, [2, 2], "AVG", "SAME", [2, 2]), "is not implemented for `dilation_rate` > 1"),
            (lambda: tf.nn.pool(x, [2, 2, 2], "MAX", "SAME"), "must have rank 5"),
            (lambda: tf.nn.conv1d(x, w, 1, "SAME", data_format="NDHWC"), 'data_format must be "NWC" or "NCW"'),
            (lambda: tf.nn.separable_conv2d(x, tf.zeros([3, 3, 3, 2]), w, [1] * 4, "SAME"), "3 and 1 are not compatible"),
        ):
            with pytest.raises(ValueError, match=text.replace("(", r"\(")):
                call()
