"""Weights as small integers or half-precision floats, in a draft whose products are as they are to run.

Source: what TF 1.15's converter writes for `optimizations`, with and without `supported_types`.
"""

from __future__ import annotations

import numpy as np

from tfexp.formats.lite_model import LiteTensor, Quantization
from tfexp.lite.draft import Draft, Step

# Constants of fewer elements stay as they are: they would save little.
_LEAST_ELEMENTS = 1024
# Ops that take real inputs with weights in int8, as their second input: the versions that do.
_HYBRID_VERSIONS = {"CONV_2D": 2, "FULLY_CONNECTED": 3}


def quantize_weights(draft: Draft) -> None:
    """Large constants in int8, with one scale each; for ops that cannot take them so, a step makes them real again."""
    for name, tensor in list(draft.tensors.items()):
        if tensor.data is None or tensor.type != "FLOAT32" or tensor.data.size < _LEAST_ELEMENTS:
            continue
        consumers = draft.consumers(name)
        as_weights = [step for step in consumers if step.op in _HYBRID_VERSIONS and step.inputs[1] == name]
        store_symmetric(tensor)
        for step in as_weights:
            step.version = _HYBRID_VERSIONS[step.op]
        if others := [step for step in consumers if step not in as_weights]:
            _make_real_again(draft, name, others)


def store_in_float16(draft: Draft) -> None:
    """All real constants in half precision, which steps make real again."""
    for name, tensor in list(draft.tensors.items()):
        if tensor.data is not None and tensor.type == "FLOAT32":
            tensor.data, tensor.type = tensor.data.astype(np.float16), "FLOAT16"
            _make_real_again(draft, name, draft.consumers(name))


def store_symmetric(tensor: LiteTensor, axis: int | None = None) -> None:
    """Turn a constant into int8, its largest magnitude being 127; along an axis, each slice's."""
    data = tensor.data
    assert data is not None
    others = None if axis is None else tuple(place for place in range(data.ndim) if place != axis)
    largest = np.max(np.abs(data), axis=others, keepdims=True)
    scale = np.where(largest > 0, largest, 1).astype(np.float32) / np.float32(127)
    tensor.data = np.clip(rounded(data / scale), -127, 127).astype(np.int8)
    tensor.type = "INT8"
    tensor.quantization = Quantization(scale.reshape(-1), np.zeros(scale.size, np.int64), axis or 0)


def rounded(x: np.ndarray) -> np.ndarray:
    """To the nearest whole number; halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _make_real_again(draft: Draft, name: str, consumers: list[Step]) -> None:
    """Let these steps have a constant in float32, which a step before the first of them makes."""
    real = draft.add_tensor(draft.free_name(f"{name}_dequantize"), draft.tensors[name].shape, np.float32)
    draft.steps.insert(min(map(draft.steps.index, consumers)), Step("DEQUANTIZE", [name], [real], version=2))
    for step in consumers:
        step.inputs = [real if one == name else one for one in step.inputs]
