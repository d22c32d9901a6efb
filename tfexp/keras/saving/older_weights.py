"""Weights as a file has them, arranged as a layer wants them: from Keras 1, and between cuDNN's and the plain kernels.

Every function takes and gives lists of arrays in the order of the layer's weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_LSTM_GATES, _GRU_GATES = 4, 3
# Where Keras 1 kept each gate's kernel, recurrent kernel and bias.
_KERAS_1_GATES = {"LSTM": (0, 6, 3, 9), "ConvLSTM2D": (0, 6, 3, 9), "GRU": (0, 3, 6)}


def preprocess_weights_for_loading(
    layer: Any, weights: list[Any], original_keras_version: str | None = None, original_backend: str | None = None
) -> list[Any]:
    """A saved layer's weights for `layer`.

    original_keras_version, original_backend: what wrote them. ValueError: they are of an RNN that `layer` cannot be.
    """
    kind = type(layer).__name__
    version, backend = original_keras_version, original_backend

    def arranged(inner: Any, some: list[Any]) -> list[Any]:
        return preprocess_weights_for_loading(inner, some, version, backend)

    if kind == "Bidirectional":
        half = len(weights) // 2
        weights = arranged(layer.forward_layer, weights[:half]) + arranged(layer.backward_layer, weights[half:])
    elif kind == "TimeDistributed":
        weights = arranged(layer.layer, weights)
    elif kind in ("Model", "Sequential"):
        weights = _of_model(layer, weights, arranged)
    if version == "1":
        weights = _from_keras_1(layer, kind, weights)
    if kind in _CONVOLUTIONS and layer.weights and tuple(layer.weights[0].shape.as_list()) != np.shape(weights[0]):
        # Kernels of channels-first back ends: [out, in, rows, columns].
        kernels = 2 if kind == "ConvLSTM2D" else 1
        weights = (
            [*(np.transpose(one, (3, 2, 0, 1)) for one in weights[:kernels]), *weights[kernels:]]
            if (np.ndim(weights[0]) == 4)
            else weights
        )
    return _between_rnns(layer, kind, weights)


_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")


def _of_model(model: Any, weights: list[Any], arranged: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """A model's weights stand in the file as all trainable ones, then all others, each layer by layer."""
    parts: list[list[Any]] = [[] for _ in model.layers]
    rest = list(weights)
    counts = []
    for attribute in ("trainable_weights", "non_trainable_weights"):
        count = [len(getattr(layer, attribute)) for layer in model.layers]
        for part, some in zip(parts, count, strict=True):
            part += rest[:some]
            rest = rest[some:]
        counts.append(count)
    found = [arranged(layer, part) if part else [] for layer, part in zip(model.layers, parts, strict=True)]
    trainable = [one for part, some in zip(found, counts[0], strict=True) for one in part[:some]]
    others = [one for part, some in zip(found, counts[0], strict=True) for one in part[some:]]
    return trainable + others + rest


def _from_keras_1(layer: Any, kind: str, weights: list[Any]) -> list[Any]:
    first = getattr(layer, "data_format", None) == "channels_first"
    if kind == "Conv1D":
        size, filters = layer.kernel_size[0], layer.filters
        kernel = weights[0]
        if kernel.shape[:2] != (size, 1) or kernel.shape[3] != filters:  # Keras 1.1: [filters, in, length, 1]
            kernel = np.transpose(kernel, (2, 3, 1, 0))
        return [kernel[:, 0], *weights[1:]]
    if kind == "Conv2D" and first:
        return [np.transpose(weights[0], (2, 3, 1, 0)), *weights[1:]]
    if kind == "Conv2DTranspose":
        return [np.transpose(weights[0], (2, 3, 0, 1) if first else (0, 1, 3, 2)), *weights[1:]]
    if kind == "Conv3D" and first:
        return [np.transpose(weights[0], (2, 3, 4, 1, 0)), *weights[1:]]
    gates = _KERAS_1_GATES.get(kind)
    if gates is not None and len(weights) == 3 * len(gates):
        kernels = [np.concatenate([weights[gate + part] for gate in gates], axis=-1) for part in range(3)]
        if kind == "ConvLSTM2D" and first:
            kernels[:2] = [np.transpose(kernel, (2, 3, 1, 0)) for kernel in kernels[:2]]
        return kernels
    return weights


# --- cuDNN's RNNs and the plain ones ------------------------------------------------------------------------------------


def _by_gate(kernel: Any, change: Callable[[Any], Any], gates: int) -> Any:
    return np.hstack([change(one) for one in np.hsplit(kernel, gates)])


def _kernels(weights: list[Any], gates: int, from_cudnn: bool) -> list[Any]:
    """Both kernels; cuDNN's are transposed, gate by gate, an input kernel's in the memory of its own shape."""
    order: Any = "F" if from_cudnn else "C"
    return [
        _by_gate(weights[0], lambda kernel: kernel.T.reshape(kernel.shape, order=order), gates),
        _by_gate(weights[1], np.transpose, gates),
    ]


def _between_rnns(layer: Any, kind: str, weights: list[Any]) -> list[Any]:
    if kind in {"LSTM", "CuDNNLSTM"} and len(weights) == 3:
        return _lstm(kind, weights)
    if kind in {"GRU", "CuDNNGRU"} and len(weights) == 3:
        return _gru(layer, kind, weights)
    return weights


def _lstm(wanted: str, weights: list[Any]) -> list[Any]:
    units = weights[1].shape[0]
    shape = weights[2].shape
    if shape == (2 * units * _LSTM_GATES,):
        given = "CuDNNLSTM"
    elif shape == (units * _LSTM_GATES,):
        given = "LSTM"
    else:
        raise ValueError(f"Invalid bias shape: {shape}")
    if given == wanted:
        return weights
    from_cudnn = given == "CuDNNLSTM"  # which has a bias for the inputs and one for the states
    bias = np.sum(np.split(weights[2], 2), axis=0) if from_cudnn else np.tile(0.5 * weights[2], 2)
    return [*_kernels(weights, _LSTM_GATES, from_cudnn), bias]


def _gru(layer: Any, kind: str, weights: list[Any]) -> list[Any]:
    units = weights[1].shape[0]
    shape = weights[2].shape
    kinds = {
        (2 * units * _GRU_GATES,): "CuDNNGRU",
        (2, units * _GRU_GATES): "GRU(reset_after=True)",
        (units * _GRU_GATES,): "GRU(reset_after=False)",
    }
    if shape not in kinds:
        raise ValueError(f"Invalid bias shape: {shape}")
    given = kinds[shape]
    wanted = kind if kind == "CuDNNGRU" else f"GRU(reset_after={layer.reset_after})"
    if given == wanted:
        return weights
    if "GRU(reset_after=False)" in {given, wanted}:
        raise ValueError(f"{given} is not compatible with {wanted}")
    from_cudnn = given == "CuDNNGRU"
    bias = weights[2].reshape((2, -1) if from_cudnn else (-1,))
    return [*_kernels(weights, _GRU_GATES, from_cudnn), bias]
