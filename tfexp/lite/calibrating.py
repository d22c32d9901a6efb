"""Whole models in int8: ranges of activations are seen on examples, and decide the scales.

Source: what TF 1.15's converter writes for a representative data set; "TensorFlow Lite 8-bit quantization specification".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.formats.lite_model import LiteModel, Quantization, type_of, write_model
from tfexp.lite.draft import Draft, Step
from tfexp.lite.interpreter import Interpreter
from tfexp.lite.quantizing import rounded, store_symmetric

# Ops with kernels on int8: the versions that have them.
_VERSIONS = {
    "ADD": 2,
    "ARG_MAX": 2,
    "AVERAGE_POOL_2D": 2,
    "CONCATENATION": 2,
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "L2_NORMALIZATION": 2,
    "LOGISTIC": 2,
    "MAX_POOL_2D": 2,
    "MEAN": 2,
    "MUL": 2,
    "PAD": 2,
    "RELU": 2,
    "RELU6": 2,
    "RESHAPE": 1,
    "RESIZE_BILINEAR": 2,
    "SOFTMAX": 2,
    "SPLIT": 2,
    "SQUEEZE": 1,
    "STRIDED_SLICE": 2,
    "SUB": 2,
    "TANH": 2,
    "TRANSPOSE": 2,
}
# Ops whose outputs have the scale of their inputs.
_SAME_SCALE = frozenset(
    {"AVERAGE_POOL_2D", "CONCATENATION", "MAX_POOL_2D", "PAD", "RESHAPE", "RESIZE_BILINEAR", "SPLIT", "SQUEEZE"}
    | {"STRIDED_SLICE", "TRANSPOSE"}
)
# Ops whose outputs' ranges are known: scale and zero point.
_FIXED = {
    "L2_NORMALIZATION": (1 / 128, 0),
    "LOGISTIC": (1 / 256, -128),
    "SOFTMAX": (1 / 256, -128),
    "TANH": (1 / 128, 0),
}
# Products, with the axis of their weights along which scales lie; None: they have one.
_PRODUCTS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": None}


class NotQuantizableError(Exception):
    """Ops that have no kernels on int8."""

    def __init__(self, ops: Iterable[str]):
        super().__init__(", ".join(sorted(set(ops))))


def quantize_all(
    draft: Draft, examples: Callable[[], Iterable[Sequence[Any]]], allow_float: bool, input_type: Any, output_type: Any
) -> None:
    """Turn a draft's real tensors into int8, as far as ops can take them.

    What comes in and goes out is of the types that are asked for: float32, or int8 or uint8 of the scales found.
    NotQuantizableError: an op cannot, and `allow_float` is false.
    """
    steps = [step for step in draft.steps if _has_reals(draft, step)]
    able = [step for step in steps if step.op in _VERSIONS]
    if len(able) < len(steps) and not allow_float:
        raise NotQuantizableError(step.op for step in steps if step not in able)
    scales = _Scales(draft, able, _ranges(draft.model(), examples()))
    given, made = list(draft.inputs), list(draft.outputs)
    real = {name for step in steps if step not in able for name in (*step.inputs, *step.outputs)}
    for step in able:
        step.version = _VERSIONS[step.op]
        _quantize_constants(draft, step, scales)
    for name in scales.of:
        draft.tensors[name].type, draft.tensors[name].quantization = "INT8", scales.of[name]
    _requantize_where_scales_differ(draft, able)
    for name in [name for name in scales.of if name in real or name in given or name in made]:
        wanted = input_type if name in given else output_type if name in made else np.float32
        _stand_between(draft, name, wanted, able)


def _has_reals(draft: Draft, step: Step) -> bool:
    return any(draft.tensors[name].type == "FLOAT32" for name in (*step.inputs, *step.outputs) if name)


def _activations(draft: Draft, names: Iterable[str]) -> list[str]:
    """Those that are computed, or given, and real."""
    return [name for name in names if name and draft.value(name) is None and draft.tensors[name].type in ("FLOAT32", "INT8")]


# --- ranges and scales -------------------------------------------------------------------------------------------------


def _ranges(model: LiteModel, examples: Iterable[Sequence[Any]]) -> dict[str, tuple[float, float]]:
    """The least and greatest number that each activation had. ValueError: there are no examples."""
    interpreter = Interpreter(model_content=write_model(model))
    found: dict[str, tuple[float, float]] = {}
    for values in _all_tensors(interpreter, examples):
        for number, value in values.items():
            name = model.tensors[number].name
            if value.dtype == np.float32 and value.size:
                low, high = found.get(name, (0.0, 0.0))  # zero has to be among the numbers that int8 stands for
                found[name] = min(low, float(value.min())), max(high, float(value.max()))
    if not found:
        raise ValueError("representative_dataset: it has no examples")
    return found


def _all_tensors(interpreter: Interpreter, examples: Iterable[Sequence[Any]]) -> Iterator[dict[int, np.ndarray]]:
    interpreter.allocate_tensors()
    inputs = [details["index"] for details in interpreter.get_input_details()]
    for values in examples:
        for index, value in zip(inputs, values, strict=True):
            interpreter.set_tensor(index, value)
        yield interpreter.run_all()


def _scale_of(low: float, high: float) -> Quantization:
    """256 steps from low to high, one of which is zero."""
    scale = (np.float32(high) - np.float32(low)) / np.float32(255) if high > low else np.float32(1)
    zero_point = int(np.clip(rounded(np.array(-128 - low / scale)), -128, 127))
    return Quantization(np.array([scale]), np.array([zero_point], np.int64))


class _Scales:
    """A scale for each activation that becomes int8; those that an op wants to be the same, are."""

    def __init__(self, draft: Draft, able: Sequence[Step], ranges: dict[str, tuple[float, float]]):
        self.group: dict[str, str] = {}
        names = [name for step in able for name in _activations(draft, (*step.inputs, *step.outputs))]
        fixed = {name: _FIXED[step.op] for step in able if step.op in _FIXED for name in step.outputs}
        for step in able:
            if step.op in _SAME_SCALE:
                first, *others = _activations(draft, (*step.outputs, *step.inputs))
                for name in others:
                    if name not in fixed or len(_activations(draft, step.inputs)) == 1:
                        self.group[self._root(name)] = self._root(first)
        members: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            members.setdefault(self._root(name), []).append(name)
        self.of: dict[str, Quantization] = {}
        for together in members.values():
            known = [fixed[name] for name in together if name in fixed]
            if known:
                scale = Quantization(np.array([known[0][0]], np.float32), np.array([known[0][1]], np.int64))
            else:
                seen = [ranges[name] for name in together]
                scale = _scale_of(min(low for low, _ in seen), max(high for _, high in seen))
            self.of.update(dict.fromkeys(together, scale))

    def _root(self, name: str) -> str:
        while self.group.get(name, name) != name:
            name = self.group[name]
        return name


# --- steps -------------------------------------------------------------------------------------------------------------


def _quantize_constants(draft: Draft, step: Step, scales: _Scales) -> None:
    """A step's constants in int8; the bias of a product in int32, in steps of what its inputs' scales make."""
    constants = [name for name in step.inputs if name and draft.value(name) is not None]
    for name in constants:
        tensor = draft.tensors[name]
        if tensor.type != "FLOAT32" or (step.op in _PRODUCTS and name == step.inputs[2]):
            continue
        store_symmetric(tensor, _PRODUCTS.get(step.op))
    if step.op in _PRODUCTS:
        weights, bias = (draft.tensors[name] for name in step.inputs[1:3])
        if weights.quantization is None or bias.data is None or bias.type != "FLOAT32":
            return
        scale = scales.of[step.inputs[0]].scale * weights.quantization.scale
        bias.data = rounded(bias.data / scale).astype(np.int32)
        bias.type, bias.quantization = "INT32", Quantization(scale, np.zeros(scale.size, np.int64))


def _requantize_where_scales_differ(draft: Draft, able: Sequence[Step]) -> None:
    """Give steps that want one scale copies of inputs that have another."""
    for step in able:
        if step.op not in _SAME_SCALE:
            continue
        wanted = draft.tensors[step.outputs[0]].quantization
        for name in _activations(draft, step.inputs):
            if draft.tensors[name].quantization is not wanted:
                copy = _copy_of(draft, name, f"{name}_requantized", np.int8)
                draft.tensors[copy].quantization = wanted
                draft.steps.insert(draft.steps.index(step), Step("QUANTIZE", [name], [copy], version=2))
                step.inputs = [copy if one == name else one for one in step.inputs]


def _stand_between(draft: Draft, name: str, wanted: Any, able: Sequence[Step]) -> None:
    """Where a tensor in int8 meets the outside, or steps on real numbers, a step turns one into the other."""
    if np.dtype(wanted) == np.int8:
        return
    inner = draft.free_name(f"{name}_int8")
    draft.rename(name, inner)
    outer = _copy_of(draft, inner, name, wanted)
    maker = next((step for step in draft.steps if inner in step.outputs), None)
    for step in draft.steps:
        if step not in able:
            step.inputs = [outer if one == inner else one for one in step.inputs]
    draft.inputs = [outer if one in (name, inner) else one for one in draft.inputs]
    draft.outputs = [outer if one in (name, inner) else one for one in draft.outputs]
    whole = draft.tensors[outer].type != "FLOAT32"
    if maker in able and maker is not None:
        back = Step("QUANTIZE" if whole else "DEQUANTIZE", [inner], [outer], version=1 if whole else 2)
        draft.steps.insert(draft.steps.index(maker) + 1, back)
    else:
        if maker is not None:
            maker.outputs = [outer if one == inner else one for one in maker.outputs]
        place = 0 if maker is None else draft.steps.index(maker) + 1
        draft.steps.insert(place, Step("QUANTIZE", [outer], [inner]))


def _copy_of(draft: Draft, name: str, wanted: str, dtype: Any) -> str:
    """A further tensor like one, of another type; of the same scale where it is uint8, which counts from 0."""
    tensor = draft.tensors[name]
    copy = draft.add_tensor(draft.free_name(wanted), tensor.shape, dtype)
    if type_of(dtype) == "UINT8" and tensor.quantization is not None:
        draft.tensors[copy].quantization = Quantization(tensor.quantization.scale, tensor.quantization.zero_point + 128)
    return copy
