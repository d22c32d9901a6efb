"""Layers of images, volumes and sequences, each with its arguments and the shape of one example.

Both sides build them: `record_spatial.py` with TensorFlow, test_keras_spatial.py with tfexp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CASES: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "conv1d": ("Conv1D", {"filters": 5, "kernel_size": 3}, (11, 2)),
    "conv1d_causal": (
        "Conv1D",
        {"filters": 3, "kernel_size": 3, "padding": "causal", "dilation_rate": 2, "activation": "tanh"},
        (7, 2),
    ),
    "conv1d_same": ("Conv1D", {"filters": 3, "kernel_size": 4, "strides": 2, "padding": "same", "use_bias": False}, (7, 2)),
    "conv2d": ("Conv2D", {"filters": 3, "kernel_size": (3, 2), "strides": (2, 1), "activation": "relu"}, (7, 5, 2)),
    "conv2d_dilated": ("Conv2D", {"filters": 3, "kernel_size": 3, "dilation_rate": (2, 1), "padding": "same"}, (7, 5, 2)),
    "conv3d": ("Conv3D", {"filters": 3, "kernel_size": (2, 3, 2), "padding": "same"}, (3, 5, 4, 2)),
    "conv2d_transpose": ("Conv2DTranspose", {"filters": 3, "kernel_size": 3, "strides": 2}, (3, 5, 2)),
    "conv2d_transpose_padded": (
        "Conv2DTranspose",
        {"filters": 3, "kernel_size": (3, 5), "strides": (2, 3), "padding": "same", "output_padding": (1, 0)},
        (3, 5, 2),
    ),
    "conv2d_transpose_narrow": ("Conv2DTranspose", {"filters": 3, "kernel_size": 2, "strides": 3}, (3, 5, 2)),
    "conv3d_transpose": ("Conv3DTranspose", {"filters": 3, "kernel_size": 2, "strides": (1, 2, 2)}, (3, 2, 5, 2)),
    "conv3d_transpose_padded": (
        "Conv3DTranspose",
        {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
        (2, 3, 5, 2),
    ),
    "separable_conv1d": ("SeparableConv1D", {"filters": 5, "kernel_size": 3, "depth_multiplier": 2}, (7, 3)),
    "separable_conv1d_causal": (
        "SeparableConv1D",
        {"filters": 5, "kernel_size": 3, "padding": "causal", "activation": "relu", "use_bias": False},
        (7, 3),
    ),
    "separable_conv2d": (
        "SeparableConv2D",
        {"filters": 5, "kernel_size": (3, 2), "strides": 2, "padding": "same", "depth_multiplier": 2, "activation": "relu"},
        (7, 5, 3),
    ),
    "separable_conv2d_dilated": ("SeparableConv2D", {"filters": 2, "kernel_size": 2, "dilation_rate": 2}, (7, 5, 3)),
    "depthwise_conv2d": ("DepthwiseConv2D", {"kernel_size": (3, 2), "depth_multiplier": 2}, (7, 5, 3)),
    "depthwise_conv2d_strided": (
        "DepthwiseConv2D",
        {"kernel_size": 3, "strides": 2, "padding": "same", "use_bias": False},
        (7, 5, 3),
    ),
    "locally_connected1d": ("LocallyConnected1D", {"filters": 3, "kernel_size": 3, "strides": 2}, (7, 2)),
    "locally_connected1d_whole": (
        "LocallyConnected1D",
        {"filters": 3, "kernel_size": 3, "padding": "same", "implementation": 2},
        (5, 2),
    ),
    "locally_connected1d_pairs": (
        "LocallyConnected1D",
        {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same", "implementation": 3},
        (5, 2),
    ),
    "locally_connected2d": (
        "LocallyConnected2D",
        {"filters": 3, "kernel_size": (3, 2), "strides": (2, 1), "activation": "tanh"},
        (7, 5, 2),
    ),
    "locally_connected2d_whole": (
        "LocallyConnected2D",
        {"filters": 2, "kernel_size": (3, 2), "padding": "same", "implementation": 2, "use_bias": False},
        (5, 3, 2),
    ),
    "locally_connected2d_pairs": ("LocallyConnected2D", {"filters": 2, "kernel_size": 2, "implementation": 3}, (4, 3, 2)),
    "max_pooling1d": ("MaxPooling1D", {}, (7, 3)),
    "max_pooling2d": ("MaxPooling2D", {"pool_size": (3, 2), "strides": 2, "padding": "same"}, (7, 5, 3)),
    "max_pooling3d": ("MaxPooling3D", {}, (5, 4, 7, 2)),
    "average_pooling1d": ("AveragePooling1D", {"pool_size": 3, "strides": 2, "padding": "same"}, (7, 3)),
    "average_pooling2d": ("AveragePooling2D", {"strides": (1, 2)}, (7, 5, 3)),
    "average_pooling3d": ("AveragePooling3D", {"pool_size": (2, 1, 3), "padding": "same"}, (5, 4, 7, 2)),
    "global_average_pooling1d": ("GlobalAveragePooling1D", {}, (7, 3)),
    "global_average_pooling2d": ("GlobalAveragePooling2D", {}, (7, 5, 3)),
    "global_average_pooling3d": ("GlobalAveragePooling3D", {}, (5, 4, 7, 2)),
    "global_max_pooling1d": ("GlobalMaxPooling1D", {}, (7, 3)),
    "global_max_pooling2d": ("GlobalMaxPooling2D", {}, (7, 5, 3)),
    "global_max_pooling3d": ("GlobalMaxPooling3D", {}, (5, 4, 7, 2)),
    "up_sampling1d": ("UpSampling1D", {"size": 3}, (5, 2)),
    "up_sampling2d": ("UpSampling2D", {"size": (2, 3)}, (5, 3, 2)),
    "up_sampling2d_bilinear": ("UpSampling2D", {"size": (2, 3), "interpolation": "bilinear"}, (5, 3, 2)),
    "up_sampling3d": ("UpSampling3D", {"size": (1, 2, 3)}, (3, 2, 5, 2)),
    "zero_padding1d": ("ZeroPadding1D", {"padding": (2, 1)}, (5, 2)),
    "zero_padding2d": ("ZeroPadding2D", {"padding": ((1, 2), (3, 0))}, (5, 3, 2)),
    "zero_padding3d": ("ZeroPadding3D", {"padding": (1, 2, 3)}, (5, 3, 2, 2)),
    "cropping1d": ("Cropping1D", {"cropping": (2, 1)}, (7, 2)),
    "cropping2d": ("Cropping2D", {"cropping": ((1, 2), (0, 3))}, (7, 5, 2)),
    "cropping3d": ("Cropping3D", {}, (7, 5, 3, 2)),
}

CONV_LSTM_CASES: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "conv_lstm2d": ("ConvLSTM2D", {"filters": 2, "kernel_size": (2, 3)}, (3, 5, 4, 3)),
    "conv_lstm2d_sequences": (
        "ConvLSTM2D",
        {
            "filters": 2,
            "kernel_size": 3,
            "strides": 2,
            "padding": "same",
            "return_sequences": True,
            "recurrent_activation": "sigmoid",
            "go_backwards": True,
            "unit_forget_bias": False,
        },
        (3, 5, 4, 2),
    ),
}

BATCH = 2

# Layers refused, by what they are given; the text is TensorFlow's.
REFUSED: dict[str, tuple[str, dict[str, Any], tuple[int, ...] | None]] = {
    "kernel of three for images": ("Conv2D", {"filters": 3, "kernel_size": (3, 3, 3)}, None),
    "padding unknown": ("Conv2D", {"filters": 3, "kernel_size": 3, "padding": "full"}, None),
    "layout unknown": ("MaxPooling2D", {"data_format": "NHWC"}, None),
    "padding rows of three": ("ZeroPadding2D", {"padding": ((1, 2, 3), 1)}, None),
    "local padding": ("LocallyConnected1D", {"filters": 3, "kernel_size": 3, "padding": "same"}, None),
    "local implementation": ("LocallyConnected2D", {"filters": 3, "kernel_size": 3, "implementation": 7}, (7, 5, 2)),
}


def wave(shape: tuple[int, ...], step: float) -> Any:
    """Numbers between -1 and 1 that repeat nowhere and are the same everywhere."""
    return np.cos(np.arange(np.prod(shape, dtype=int)) * step).reshape(shape).astype(np.float32)
