"""The order in which configs name their settings, so that architectures written as JSON are the same text; kinds of layers.

The orders were read from TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf

L = tf.keras.layers

_WINDOWS = "filters kernel_size strides padding data_format dilation_rate"
_RUNS = "return_sequences return_state go_backwards stateful unroll time_major"
_RECURRENT = "kernel_initializer recurrent_initializer bias_initializer"
_REGULAR = "kernel_regularizer recurrent_regularizer bias_regularizer activity_regularizer"
_BOUND = "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout"

ORDERS: dict[str, tuple[Callable[[], Any], str]] = {
    "SimpleRNN": (lambda: L.SimpleRNN(2), f"{_RUNS} units activation use_bias {_RECURRENT} {_REGULAR} {_BOUND}"),
    "GRU": (
        lambda: L.GRU(2),
        f"{_RUNS} units activation recurrent_activation use_bias {_RECURRENT} {_REGULAR} {_BOUND} "
        "implementation reset_after",
    ),
    "LSTM": (
        lambda: L.LSTM(2),
        f"{_RUNS} units activation recurrent_activation use_bias {_RECURRENT} unit_forget_bias {_REGULAR} {_BOUND} "
        "implementation",
    ),
    "ConvLSTM2D": (
        lambda: L.ConvLSTM2D(2, 2),
        f"{_RUNS} {_WINDOWS} activation recurrent_activation use_bias {_RECURRENT} unit_forget_bias {_REGULAR} {_BOUND}",
    ),
    "SeparableConv2D": (
        lambda: L.SeparableConv2D(2, 2),
        f"{_WINDOWS} activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
        "activity_regularizer kernel_constraint bias_constraint depth_multiplier depthwise_initializer "
        "pointwise_initializer depthwise_regularizer pointwise_regularizer depthwise_constraint pointwise_constraint",
    ),
    "MaxPooling1D": (L.MaxPooling1D, "strides pool_size padding data_format"),
    "AveragePooling3D": (L.AveragePooling3D, "pool_size padding strides data_format"),
    "UpSampling1D": (L.UpSampling1D, "size"),
    "UpSampling2D": (L.UpSampling2D, "size data_format interpolation"),
    "ZeroPadding2D": (L.ZeroPadding2D, "padding data_format"),
    "Cropping3D": (L.Cropping3D, "cropping data_format"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_settings_come_in_tensorflows_order(name: str) -> None:
    make, order = ORDERS[name]
    layer = make()
    config = layer.get_config()
    assert list(config) == ["name", "trainable", "dtype", *order.split()]
    assert type(layer).from_config(config).get_config() == config


def test_transposed_and_depthwise_convolutions_are_convolutions() -> None:
    assert issubclass(L.Conv2DTranspose, L.Conv2D)
    assert issubclass(L.DepthwiseConv2D, L.Conv2D)
    assert issubclass(L.Conv3DTranspose, L.Conv3D)
    assert issubclass(tf.layers.Conv2DTranspose, L.Conv2D)
    assert not issubclass(L.SeparableConv2D, L.Conv2D)
