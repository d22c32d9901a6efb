"""What layers refuse: the class of the error and what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode


def _input(*shape: int | None, **kwargs: Any) -> Any:
    return L.Input(shape, **kwargs)


def _twice(layer: Any, *inputs: Any) -> None:
    for one in inputs:
        layer(one)


def _eagerly(layer: Any, make: Callable[..., Any], *values: Any) -> None:
    with eager_mode():
        layer(make(*values))


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "depth unknown": (lambda: L.Dense(3)(_input(None)), ValueError, "inputs to `Dense` should be defined. Found `None`"),
    "integers": (lambda: L.Dense(3)(_input(4, dtype="int32")), TypeError, "non-floating point dtype"),
    "rank": (lambda: L.Dense(3)(tf.zeros([3])), ValueError, "min_ndim=2, found ndim=1"),
    "rank of a number": (lambda: _eagerly(L.Dense(3), tf.constant, 2.0), ValueError, "min_ndim=2, found ndim=0"),
    "no inputs": (lambda: _eagerly(L.Dense(3), list), ValueError, "expects 1 inputs, but it received 0 input tensors"),
    "half a filter": (lambda: L.Conv1D(2.5, 3)(_input(7, 3)), ValueError, "Ambiguous dimension: 2.5"),
    "axis to share": (lambda: L.PReLU(shared_axes=[3])(_input(3, 4)), IndexError, "list assignment index"),
    "another depth": (lambda: _twice(L.Dense(3), _input(4), _input(5)), ValueError, "axis -1 of input shape to have"),
    "shape's depth": (lambda: L.Dense(3).compute_output_shape((None, None)), ValueError, "input_shape="),
    "unknown keyword": (lambda: L.Dense(3, foo=1), TypeError, "foo"),
    "reshape": (lambda: L.Reshape((4,))(_input(2, 3)), ValueError, r"input_shape = \[2, 3\], output_shape = \[4\]"),
    "reshape to rest": (lambda: L.Reshape((-1, 4))(_input(2, 3)), ValueError, "total size of new array"),
    "reshape to nothing": (lambda: L.Reshape((0, -1))(_input(2, 3)), ValueError, "total size of new array"),
    "two rests": (lambda: L.Reshape((-1, -1))(_input(2, 3)), ValueError, "Can only specify one unknown dimension"),
    "permute": (lambda: L.Permute((0, 1)), ValueError, r"`dims` for Permute Layer: \(0, 1\). The set of"),
    "permute rank": (lambda: L.Permute((1, 2))(_input(3)), ValueError, "expected ndim=3, found ndim=2"),
    "repeat": (lambda: L.RepeatVector("a"), TypeError, "Expected an integer value for `n`"),
    "repeat rank": (lambda: L.RepeatVector(2)(_input(2, 3)), ValueError, "expected ndim=2"),
    "flatten": (lambda: L.Flatten("x"), ValueError, "Received: x"),
    "spatial": (lambda: L.SpatialDropout2D(0.2, "x"), ValueError, "data_format must be in"),
    "spatial rank": (lambda: L.SpatialDropout3D(0.2)(_input(2, 3)), ValueError, "expected ndim=5"),
    "merge one": (lambda: L.Add()([_input(3)]), ValueError, "at least 2 inputs. Got 1"),
    "merge none": (lambda: L.Add()(_input(3)), ValueError, "not a list of shapes"),
    "merge batches": (
        lambda: L.Add()([L.Input(batch_shape=(2, 3)), L.Input(batch_shape=(5, 3))]), ValueError, "Can not merge tensors"
    ),
    "merge shapes": (lambda: L.Add()([_input(3), _input(4)]), ValueError, r"broadcast together with shapes \(3,\) \(4,\)"),
    "subtract": (lambda: L.Subtract()([_input(3)] * 3), ValueError, "exactly 2 inputs"),
    "concatenate one": (lambda: L.Concatenate()([_input(3)]), ValueError, "at least 2 inputs"),
    "concatenate": (
        lambda: L.Concatenate()([_input(2, 3), _input(3, 2)]),
        ValueError, r"except for the concat axis. Got inputs shapes: \[\(None, 2",
    ),
    "concatenate ranks": (lambda: L.Concatenate(1)([_input(2, 3), _input(3)]), ValueError, "matching shapes except"),
    "masks": (lambda: L.Add().compute_mask([1, 2], 3), ValueError, "`mask` should be a list"),
    "inputs of masks": (lambda: L.Add().compute_mask(1, [None]), ValueError, "`inputs` should be a list"),
    "number of masks": (lambda: L.Concatenate().compute_mask([1, 2], [None]), ValueError, "same length"),
    "dot axes": (lambda: L.Dot("a"), TypeError, "Invalid type for `axes` - should be a list or an int"),
    "three axes": (lambda: L.Dot((1, 2, 3)), ValueError, "`axes` - should contain two elements"),
    "axes of text": (lambda: L.Dot((1, "a")), ValueError, '`axes` - list elements should be "int"'),
    "dot shapes": (
        lambda: L.Dot(1)([_input(2, 3), _input(3, 2)]),
        ValueError, r"Dimension incompatibility 2 != 3. Layer shapes: \(None, 2, 3\)",
    ),
    "dot one": (lambda: L.Dot(1)(_input(2, 3)), ValueError, "list of 2 inputs"),
    "attention": (lambda: L.Attention()(_input(2, 3)), ValueError, "must be called on a list"),
    "attention of four": (lambda: L.Attention()([_input(2, 3)] * 4), ValueError, "Given length: 4"),
    "attention's mask": (
        lambda: L.Attention()([_input(2, 3)] * 2, mask=[None]), ValueError, "Received length: 1"
    ),
    "axis": (lambda: L.BatchNormalization(axis="a"), TypeError, "axis must be int or list, type given: <class 'str'>"),
    "no such axis": (lambda: L.LayerNormalization(axis=3)(_input(2, 3)), ValueError, "Invalid axis: 3.*inputs.rank=3"),
    "axes twice": (lambda: L.BatchNormalization(axis=[1, 1])(_input(2, 3)), ValueError, "Duplicate axis"),
    "axis unknown": (lambda: L.BatchNormalization()(_input(None)), ValueError, "undefined `axis` dimension"),
    "axis is no number": (
        lambda: L.LayerNormalization(axis="a"),
        ValueError, "tuple of ints for the argument 'axis', but received instead: a",
    ),
    "layer axis unknown": (lambda: L.LayerNormalization()(_input(None)), ValueError, "undefined `axis` dimension"),
    "normalized rank": (lambda: L.BatchNormalization()(tf.placeholder(tf.float32)), ValueError, "undefined rank"),
    "virtual batches": (lambda: L.BatchNormalization(virtual_batch_size=-2), ValueError, "positive integer"),
    "clipping": (
        lambda: L.BatchNormalization(renorm=True, renorm_clipping={"a": 1}),
        ValueError, r"renorm_clipping {'a': 1} contains keys not in",
    ),
    "adjusted": (lambda: L.BatchNormalization(virtual_batch_size=2, adjustment=abs), ValueError, "adjustment"),
    "relu": (lambda: L.ReLU(-1.0), ValueError, "max_value of Relu layer cannot be negative value: -1"),
    "relu's slope": (lambda: L.ReLU(negative_slope=-1.0), ValueError, "negative_slope of Relu layer"),
    "relu's threshold": (lambda: L.ReLU(threshold=None), ValueError, "threshold of Relu layer"),
    "elu": (lambda: L.ELU(None), ValueError, "Alpha of an ELU layer"),
    "leaky": (lambda: L.LeakyReLU(None), ValueError, "Leaky ReLU layer"),
    "threshold": (lambda: L.ThresholdedReLU(-1), ValueError, "should be >=0. Received: -1"),
    "input length": (
        lambda: L.Embedding(3, 4, input_length=2).compute_output_shape((None, 3)), ValueError, '"input_length" is 2'
    ),
    "input lengths": (
        lambda: L.Embedding(3, 4, input_length=2).compute_output_shape((None, 2, 5)), ValueError, '"input_length" is 2'
    ),
    "no layer": (
        lambda: L.TimeDistributed(3),
        ValueError, "initialize `TimeDistributed` layer with a `Layer` instance. You passed: 3",
    ),
    "wrapped": (lambda: L.Wrapper(3), TypeError, "`Wrapper` wraps"),
    "no steps": (lambda: L.TimeDistributed(L.Dense(3))(_input(3)), ValueError, "at least 3 dimensions"),
    "unknown class": (lambda: L.deserialize({"class_name": "Foo", "config": {}}), ValueError, "Unknown layer: Foo"),
    "second axis": (lambda: L.BatchNormalization(axis=[1, 7])(_input(2)), ValueError, "Invalid axis: 7"),
    "axis from behind": (lambda: L.LayerNormalization(axis=-5)(_input(2)), ValueError, "Invalid axis: -3"),
    "a window's size": (
        lambda: L.Conv2D(3, (1, "a")),
        ValueError, r"Received: \(1, 'a'\) including element a of type <class 'str'>",
    ),
    "sizes of a window": (lambda: L.Conv1D(3, (1, 2)), ValueError, r"`kernel_size` argument must be a tuple of 1 integers"),
    "causal": (lambda: L.Conv2D(3, 2, padding="causal"), ValueError, "only supported for `Conv1D`and ``SeparableConv1D`"),
    "strides and dilation": (
        lambda: L.Conv2D(3, 2, strides=2, dilation_rate=2)(_input(7, 7, 2)),
        ValueError, "^strides > 1 not supported in conjunction with dilation_rate > 1",
    ),
    "output padding": (
        lambda: L.Conv2DTranspose(3, 2, output_padding=1),
        ValueError, r"Stride \(1, 1\) must be greater than output padding \(1, 1\)",
    ),
    "three paddings": (lambda: L.ZeroPadding2D((1, 2, 3)), ValueError, r"should have two elements. Found: \(1, 2, 3\)"),
    "half a padding": (lambda: L.ZeroPadding2D(0.5), ValueError, r"2 ints \(\(top_pad, bottom_pad\), .* Found: 0.5"),
    "no cropping": (lambda: L.Cropping3D(None), ValueError, r"3 ints \(symmetric_dim1_crop, .*, .* Found: None"),
    "no cell": (lambda: L.RNN(3), ValueError, "^`cell` should have a `call` method. The RNN was passed: 3"),
    "no cells": (lambda: L.StackedRNNCells([3]), ValueError, r"a `call` method. received cells: \[3\]"),
    "cell without states": (lambda: L.RNN(L.Dense(3)), ValueError, "should have an attribute `state_size`"),
    "stacked without states": (lambda: L.RNN([L.Dense(3)]), ValueError, "have a `state_size` attribute. received cells:"),
    "no directions": (lambda: L.Bidirectional(3), ValueError, "Bidirectional` layer with a `Layer` instance. You pas"),
    "no way back": (lambda: L.Bidirectional(L.LSTM(3), backward_layer=4), ValueError, "be a `Layer` instance. You passed"),
    "merged directions": (lambda: L.Bidirectional(L.LSTM(3), merge_mode="x"), ValueError, "Merge mode should be one of"),
    "directions differ": (
        lambda: L.Bidirectional(L.GRU(3), backward_layer=L.GRU(3, return_sequences=True, go_backwards=True)),
        ValueError, "the same value for attribute return_sequences, got False and True",
    ),
    "dot of one": (lambda: L.Dot(1).call(_input(3)), ValueError, "merge layer should be called on a list of inputs"),
    "states of a Keras model or not": (
        lambda: L.LSTM(2)(_input(3, 5), initial_state=[_input(2), tf.zeros([1, 2])]),
        ValueError, "cannot be specified with a mix of Keras tensors",
    ),
    "two for one": (lambda: L.Dense(3)([_input(2)] * 2), ValueError, r"received 2 input tensors. Inputs received: \["),
    "another depth of steps": (
        lambda: _twice(L.LSTM(3), _input(5, 4), _input(5, 2)),
        ValueError, r"^Input 0 is incompatible with layer lstm: .*=\(None, None, 4\), found shape=\[None, 5, 2\]",
    ),
    "axes by name": (lambda: L.InputSpec(axes={"a": 3}), TypeError, "keys in axes must be integers"),
    "empty model": (lambda: tf.keras.Sequential([tf.keras.Sequential()]), ValueError, "empty Model cannot be"),
    "no shape yet": (lambda: L.Dense(3).input_shape, AttributeError, "thus has no defined input shape\\."),
    "no config": (lambda: L.deserialize({"config": {}}), ValueError, "Improper config format"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_error_says_what_is_wrong(name: str) -> None:
    make, kind, text = CASES[name]
    with tf.Graph().as_default(), pytest.raises(kind, match=text):
        make()
