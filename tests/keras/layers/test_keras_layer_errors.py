"""What layers refuse: the class of the error and what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf
from tfexp.keras import layers as L


def _input(*shape: int | None, **kwargs: Any) -> Any:
    return L.Input(shape, **kwargs)


def _twice(layer: Any, *inputs: Any) -> None:
    for one in inputs:
        layer(one)


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "depth unknown": (lambda: L.Dense(3)(_input(None)), ValueError, "should be defined. Found None"),
    "integers": (lambda: L.Dense(3)(_input(4, dtype="int32")), TypeError, "non-floating point dtype"),
    "rank": (lambda: L.Dense(3)(tf.zeros([3])), ValueError, "min_ndim=2, found ndim=1"),
    "another depth": (lambda: _twice(L.Dense(3), _input(4), _input(5)), ValueError, "axis -1 of input shape to have"),
    "shape's depth": (lambda: L.Dense(3).compute_output_shape((None, None)), ValueError, "input_shape="),
    "unknown keyword": (lambda: L.Dense(3, foo=1), TypeError, "foo"),
    "reshape": (lambda: L.Reshape((4,))(_input(2, 3)), ValueError, r"input_shape = \[2, 3\], output_shape = \[4\]"),
    "reshape to rest": (lambda: L.Reshape((-1, 4))(_input(2, 3)), ValueError, "total size of new array"),
    "reshape to nothing": (lambda: L.Reshape((0, -1))(_input(2, 3)), ValueError, "total size of new array"),
    "two rests": (lambda: L.Reshape((-1, -1))(_input(2, 3)), ValueError, "at most one unknown"),
    "permute": (lambda: L.Permute((0, 1)), ValueError, r"start from 1. Received dims=\(0, 1\)"),
    "permute rank": (lambda: L.Permute((1, 2))(_input(3)), ValueError, "expected ndim=3, found ndim=2"),
    "repeat": (lambda: L.RepeatVector("a"), TypeError, "Expected an integer value for `n`"),
    "repeat rank": (lambda: L.RepeatVector(2)(_input(2, 3)), ValueError, "expected ndim=2"),
    "flatten": (lambda: L.Flatten("x"), ValueError, "Received: x"),
    "spatial": (lambda: L.SpatialDropout2D(0.2, "x"), ValueError, "data_format=x"),
    "spatial rank": (lambda: L.SpatialDropout3D(0.2)(_input(2, 3)), ValueError, "expected ndim=5"),
    "merge one": (lambda: L.Add()([_input(3)]), ValueError, "at least 2 inputs. Got 1"),
    "merge none": (lambda: L.Add()(_input(3)), ValueError, "not a list of shapes"),
    "merge batches": (
        lambda: L.Add()([L.Input(batch_shape=(2, 3)), L.Input(batch_shape=(5, 3))]), ValueError, "different batch sizes"
    ),
    "merge shapes": (lambda: L.Add()([_input(3), _input(4)]), ValueError, r"broadcast together with shapes \(3,\) \(4,\)"),
    "subtract": (lambda: L.Subtract()([_input(3)] * 3), ValueError, "exactly 2 inputs"),
    "concatenate one": (lambda: L.Concatenate()([_input(3)]), ValueError, "at least 2 inputs"),
    "concatenate": (lambda: L.Concatenate()([_input(2, 3), _input(3, 2)]), ValueError, "matching shapes except"),
    "concatenate ranks": (lambda: L.Concatenate(1)([_input(2, 3), _input(3)]), ValueError, "matching shapes except"),
    "masks": (lambda: L.Add().compute_mask([1, 2], 3), ValueError, "`mask` should be a list"),
    "inputs of masks": (lambda: L.Add().compute_mask(1, [None]), ValueError, "`inputs` should be a list"),
    "number of masks": (lambda: L.Concatenate().compute_mask([1, 2], [None]), ValueError, "same length"),
    "dot axes": (lambda: L.Dot("a"), TypeError, "a list or an int"),
    "three axes": (lambda: L.Dot((1, 2, 3)), ValueError, "two elements"),
    "axes of text": (lambda: L.Dot((1, "a")), ValueError, "should be integers"),
    "dot shapes": (lambda: L.Dot(1)([_input(2, 3), _input(3, 2)]), ValueError, "axis values 2"),
    "dot one": (lambda: L.Dot(1)(_input(2, 3)), ValueError, "list of 2 inputs"),
    "attention": (lambda: L.Attention()(_input(2, 3)), ValueError, "must be called on a list"),
    "attention of four": (lambda: L.Attention()([_input(2, 3)] * 4), ValueError, "Received length: 4"),
    "attention's mask": (
        lambda: L.Attention()([_input(2, 3)] * 2, mask=[None]), ValueError, "Received length: 1"
    ),
    "axis": (lambda: L.BatchNormalization(axis="a"), TypeError, "Expected an int or a list/tuple of ints"),
    "no such axis": (lambda: L.LayerNormalization(axis=3)(_input(2, 3)), ValueError, "Invalid axis: 3.*inputs.rank=3"),
    "axes twice": (lambda: L.BatchNormalization(axis=[1, 1])(_input(2, 3)), ValueError, "Duplicate axis"),
    "axis unknown": (lambda: L.BatchNormalization()(_input(None)), ValueError, "undefined `axis` dimension"),
    "axis is no number": (lambda: L.LayerNormalization(axis="a"), ValueError, "Expected an int or a list/tuple of ints"),
    "layer axis unknown": (lambda: L.LayerNormalization()(_input(None)), ValueError, "undefined `axis` dimension"),
    "normalized rank": (lambda: L.BatchNormalization()(tf.placeholder(tf.float32)), ValueError, "undefined rank"),
    "virtual batches": (lambda: L.BatchNormalization(virtual_batch_size=-2), ValueError, "positive integer"),
    "clipping": (lambda: L.BatchNormalization(renorm=True, renorm_clipping={"a": 1}), ValueError, "invalid keys"),
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
    "no layer": (lambda: L.TimeDistributed(3), ValueError, "initialize `TimeDistributed` layer with a `Layer` instance"),
    "wrapped": (lambda: L.Wrapper(3), TypeError, "`Wrapper` wraps"),
    "no steps": (lambda: L.TimeDistributed(L.Dense(3))(_input(3)), ValueError, "at least 3 dimensions"),
    "unknown class": (lambda: L.deserialize({"class_name": "Foo", "config": {}}), ValueError, "Unknown layer: Foo"),
    "no config": (lambda: L.deserialize({"config": {}}), ValueError, "Improper config format"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_error_says_what_is_wrong(name: str) -> None:
    make, kind, text = CASES[name]
    with tf.Graph().as_default(), pytest.raises(kind, match=text):
        make()
