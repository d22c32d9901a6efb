"""`tf.audio`: 16-bit WAV files, read as floats from -1 to 1 and written."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

decode_wav_op = define_op(
    "DecodeWav(contents: string) -> (audio: float, sample_rate: int32) "
    "{desired_channels: int = -1; desired_samples: int = -1}"
)
encode_wav_op = define_op("EncodeWav(audio: float, sample_rate: int32) -> (contents: string)")


@decode_wav_op.shape
def _(contents: InputShape, *, desired_channels: int, desired_samples: int) -> list[TensorShape]:
    with_rank(contents, 0)
    for what, value in (("channels", desired_channels), ("samples", desired_samples)):
        if value < -1:
            raise ValueError(f"{what} must be non-negative, got {value}")
    known = [None if n == -1 else n for n in (desired_samples, desired_channels)]
    return [TensorShape(known), TensorShape([])]


@encode_wav_op.shape
def _(audio: InputShape, sample_rate: InputShape) -> TensorShape:
    with_rank(audio, 2)
    with_rank(sample_rate, 0)
    return TensorShape([])


def _chunks(data: bytes) -> dict[bytes, tuple[int, int]]:
    """Of a RIFF file: where each chunk's content starts, and its declared length."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"Header mismatch: Expected RIFF and WAVE but found {data[:4]!r} and {data[8:12]!r}")
    found: dict[bytes, tuple[int, int]] = {}
    place = 12
    while place + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, place)
        found.setdefault(kind, (place + 8, length))
        place += 8 + length + length % 2
    return found


@decode_wav_op.kernel("CPU")
def _(ctx: Any, contents: Any, *, desired_channels: int, desired_samples: int) -> list[Any]:
    if np.ndim(contents):
        raise ValueError(f"contents must be scalar, got shape {dims_text(np.shape(contents))}")
    data = bytes(contents.item() if isinstance(contents, np.ndarray) else contents)
    chunks = _chunks(data)
    start, length = chunks.get(b"fmt ", (0, 0))
    if length < 16 or start + 16 > len(data):
        raise ValueError("Bad format chunk in WAV: no format of at least 16 bytes")
    coding, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", data, start)
    if coding != 1:
        raise ValueError(f"Bad audio format for WAV: Expected 1 (PCM), but got {coding}")
    if bits != 16:
        raise ValueError(f"Can only read 16-bit WAV files, but received {bits}")
    if channels < 1 or frame != 2 * channels:
        raise ValueError(f"Bad bytes per sample in WAV header: {frame} for {channels} channels of 16 bits")
    if b"data" not in chunks:
        raise ValueError("Data chunk is missing in WAV")
    start, length = chunks[b"data"]
    if start + length > len(data):
        raise ValueError(
            f"Data too short when trying to read string: {length} bytes of samples, {len(data) - start} present"
        )
    count = length // frame
    samples = np.frombuffer(data, "<i2", count * channels, start).astype(np.float32).reshape(count, channels)
    samples *= np.float32(1 / 32768)
    wanted = (count if desired_samples == -1 else desired_samples, channels if desired_channels == -1 else desired_channels)
    if wanted == samples.shape:
        return [samples, np.int32(rate)]
    # What is missing: silence at the end, and the last channel again.
    result = np.zeros(wanted, np.float32)
    kept = samples[: wanted[0], np.minimum(np.arange(wanted[1]), channels - 1)]
    result[: len(kept)] = kept
    return [result, np.int32(rate)]


@encode_wav_op.kernel("CPU")
def _(ctx: Any, audio: Array, sample_rate: Any) -> Array:
    if audio.ndim != 2:
        raise ValueError(f"audio must be 2-dimensional but got shape {dims_text(audio.shape)}")
    if np.ndim(sample_rate):
        raise ValueError(f"Input sample_rate should be a scalar tensor, got {dims_text(np.shape(sample_rate))} instead.")
    count, channels = audio.shape
    rate = int(sample_rate)
    if rate <= 0 or count == 0 or channels == 0:
        raise ValueError(f"sample_rate, samples and channels must be > 0, got {rate}, {count} and {channels}")
    samples = np.clip(np.rint(audio.astype(np.float32) * np.float32(32768)), -32768, 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return np.array(b"RIFF" + struct.pack("<I", len(body)) + body, object)


def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> Any:
    """(audio [samples, channels], sample_rate) of a WAV file. Source: `tf.audio.decode_wav`."""
    return decode_wav_op(contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name)


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """A WAV file of [samples, channels]. Source: `tf.audio.encode_wav`."""
    result: Tensor = encode_wav_op(audio, sample_rate, name=name)
    return result
