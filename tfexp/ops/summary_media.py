"""Summaries of images (as PNG) and of sounds (as WAV)."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from tensorboard.compat.proto import summary_pb2
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core import dtypes
from tfexp.core.op import Attr, Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.image_files import encode_png
from tfexp.formats.tensor import make_ndarray
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.summary import collected, summary_scope

_CHANNELS = (1, 3, 4)
# Below this, the largest value of an image counts as 0: scaling it up would show noise.
_DARK = 1e-6


def _serialized(summary: Any) -> np.ndarray:
    result = np.empty((), object)
    result[()] = summary.SerializeToString()
    return result


def _tag(tag: Any, kind: str, index: int, many: bool) -> str:
    base = np.asarray(tag, dtype=object).item().decode()
    return f"{base}/{kind}/{index}" if many else f"{base}/{kind}"


# --- images -----------------------------------------------------------------------------------------------------------

image_summary_op = define_op(
    "ImageSummary(tag: string, tensor: T) -> (summary: string) {max_images: int >= 1 = 3; "
    "T: type in [uint8,float,half,double] = float; bad_color: tensor}"
).not_differentiable()


def _red(op: Op) -> None:
    """The default of `bad_color`, which a signature line cannot spell: opaque red."""
    red = TensorProto(dtype=dtypes.uint8.as_datatype_enum, int_val=[255, 0, 0, 255])
    red.tensor_shape.dim.add(size=4)
    op.attrs["bad_color"] = Attr("bad_color", "tensor", default=red, has_default=True)


_red(image_summary_op)


@image_summary_op.shape
def _(tag: InputShape, tensor: InputShape) -> TensorShape:
    return TensorShape([])


@image_summary_op.kernel("CPU")
def _(ctx: Any, tag: Any, tensor: np.ndarray, *, max_images: int, bad_color: TensorProto) -> np.ndarray:
    if np.ndim(tag):
        raise ValueError("Tags must be a scalar")
    if np.ndim(tensor) != 4 or tensor.shape[3] not in _CHANNELS:
        raise ValueError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {dims_text(np.shape(tensor))}")
    _, height, width, depth = tensor.shape
    color = make_ndarray(bad_color)
    if tensor.dtype != np.uint8 and color.size < depth:
        raise ValueError(f"expected bad_color to have {depth} channels, got {list(color.shape)}")
    summary = summary_pb2.Summary()
    for i, image in enumerate(tensor[:max_images]):
        pixels = image if image.dtype == np.uint8 else _pixels(image, color[:depth])
        value = summary.value.add(tag=_tag(tag, "image", i, max_images > 1))
        value.image.height, value.image.width, value.image.colorspace = height, width, depth
        value.image.encoded_image_string = encode_png(pixels)
    return _serialized(summary)


def _pixels(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """An image's numbers as bytes: 0 … its largest as 0 … 255 or, with negative ones, -m … m around 128.

    Pixels that are not finite get `bad_color`.
    """
    image = image.astype(np.float32)
    finite = np.isfinite(image).all(-1)
    good = image[finite]
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = (0.0 if largest < _DARK else 127 / largest), 128.0
    else:
        scale, offset = (0.0 if high < _DARK else 255 / high), 0.0
    result = np.empty(image.shape, np.uint8)
    result[finite] = (good * np.float32(scale) + np.float32(offset)).astype(np.uint8)
    result[~finite] = bad_color
    return result


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of the first `max_outputs` images of a batch, [n, height, width, 1 | 3 | 4]. Source: `tf.summary.image`."""
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return collected(image_summary_op(tag, tensor, max_images=max_outputs, name=scope), collections)


# --- sounds -----------------------------------------------------------------------------------------------------------

audio_summary_op = define_op(
    "AudioSummaryV2(tag: string, tensor: float, sample_rate: float) -> (summary: string) {max_outputs: int >= 1 = 3}"
).not_differentiable()


@audio_summary_op.shape
def _(tag: InputShape, tensor: InputShape, sample_rate: InputShape) -> TensorShape:
    with_rank(sample_rate, 0)
    return TensorShape([])


@audio_summary_op.kernel("CPU")
def _(ctx: Any, tag: Any, tensor: np.ndarray, sample_rate: Any, *, max_outputs: int) -> np.ndarray:
    if np.ndim(tag):
        raise ValueError("Tag must be a scalar")
    if np.ndim(tensor) not in (2, 3):
        raise ValueError(f"Tensor must be 3-D or 2-D, got: {list(np.shape(tensor))}")
    rate = float(sample_rate)
    if rate <= 0:
        raise ValueError("sample_rate must be > 0")
    clips = tensor if tensor.ndim == 3 else tensor[:, :, None]
    summary = summary_pb2.Summary()
    for i, clip in enumerate(clips[:max_outputs]):
        value = summary.value.add(tag=_tag(tag, "audio", i, max_outputs > 1))
        value.audio.sample_rate = rate
        value.audio.length_frames, value.audio.num_channels = clip.shape
        value.audio.content_type = "audio/wav"
        value.audio.encoded_audio_string = _wav(clip, round(rate))
    return _serialized(summary)


def _wav(clip: np.ndarray, rate: int) -> bytes:
    """16-bit PCM of [frames, channels] in [-1, 1]; what is louder is clipped."""
    scaled = clip.astype(np.float32) * np.float32(1 << 15)
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
    samples = np.clip(rounded, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    channels = clip.shape[1]
    header = struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16)
    size = 4 + 8 + 16 + 8 + len(samples)
    return b"".join(
        [b"RIFF", struct.pack("<I", size), b"WAVEfmt ", header, b"data", struct.pack("<I", len(samples)), samples]
    )


def audio(
    name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None
) -> Tensor:
    """A summary of the first `max_outputs` clips of a batch, [n, frames(, channels)] in [-1, 1]. `tf.summary.audio`."""
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        value = audio_summary_op(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return collected(value, collections)
