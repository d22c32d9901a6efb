"""Ops that read and write image files: DecodePng, DecodeJpeg, DecodeGif, DecodeBmp, DecodeImage, EncodePng, EncodeJpeg."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats import image_files
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.image_dtype import convert_image_dtype
from tfexp.ops.shape_rules import with_rank

_JPEG = (
    "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; "
    "acceptable_fraction: float = 1.0; dct_method: string = ''"
)
decode_png_op = define_op(
    "DecodePng(contents: string) -> (image: dtype) {channels: int = 0; dtype: type in [uint8,uint16] = uint8}"
)
decode_jpeg_op = define_op(f"DecodeJpeg(contents: string) -> (image: uint8) {{{_JPEG}}}")
decode_gif_op = define_op("DecodeGif(contents: string) -> (image: uint8)")
decode_bmp_op = define_op("DecodeBmp(contents: string) -> (image: uint8) {channels: int = 0}")
decode_image_op = define_op(
    "DecodeImage(contents: string) -> (image: dtype) {channels: int = 0; dtype: type in [uint8,uint16,float] = uint8; "
    "expand_animations: bool = true}"
)
encode_png_op = define_op(
    "EncodePng(image: T) -> (contents: string) {compression: int = -1; T: type in [uint8,uint16] = uint8}"
)
encode_jpeg_op = define_op(
    "EncodeJpeg(image: uint8) -> (contents: string) {format: string in ['','grayscale','rgb'] = ''; quality: int = 95; "
    "progressive: bool = false; optimize_size: bool = false; chroma_downsampling: bool = true; "
    "density_unit: string in ['in','cm'] = 'in'; x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _attach_image_shape(op: Op) -> None:
    """One file in, [height, width, channels] out; which numbers of channels there are is the kernel's business."""

    @op.shape
    def _(contents: InputShape, *others: InputShape, channels: int) -> TensorShape:
        with_rank(contents, 0)
        if channels < 0:
            raise ValueError(f"channels must be non-negative, got {channels}")
        return TensorShape([None, None, channels or None])


for _op in (decode_png_op, decode_jpeg_op, decode_bmp_op):
    _attach_image_shape(_op)


@decode_gif_op.shape
def _(contents: InputShape) -> TensorShape:
    with_rank(contents, 0)
    return TensorShape([None, None, None, 3])


@decode_image_op.shape
def _(contents: InputShape, *, channels: int, expand_animations: bool) -> TensorShape:
    with_rank(contents, 0)
    return TensorShape(None) if expand_animations else TensorShape([None, None, channels or None])


@encode_png_op.shape
def _(image: InputShape) -> TensorShape:
    if image.rank is not None and image.rank < 3:
        raise ValueError(f"Shape must be at least rank 3 but is rank {image.rank}")
    return image[:-3]


encode_jpeg_op.shape(lambda image: TensorShape([]) if with_rank(image, 3) is not None else None)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _data(contents: Any) -> bytes:
    if np.ndim(contents):
        raise ValueError(f"`contents` must be scalar but got shape {dims_text(np.shape(contents))}")
    value = contents.item() if isinstance(contents, np.ndarray) else contents
    return bytes(value)


@decode_png_op.kernel("CPU")
def _(ctx: Any, contents: Any, *, channels: int, dtype: DType) -> Array:
    _check_channels(channels, 0, 1, 3, 4)
    return _still(_decoded(_data(contents), channels, dtype, "DecodePng"))


@decode_jpeg_op.kernel("CPU")
def _(ctx: Any, contents: Any, *, channels: int, ratio: int, try_recover_truncated: bool, dct_method: Any) -> Array:
    _check_channels(channels, 0, 1, 3)
    ratio = _checked_ratio(ratio)
    _check_transform(dct_method)
    return _still(_decoded(_data(contents), channels, dtypes.uint8, "DecodeJpeg", ratio, try_recover_truncated))


def _still(pixels: Array) -> Array:
    if pixels.ndim == 3:
        return pixels
    if len(pixels) > 1:
        raise ValueError(f"Got {len(pixels)} frames, but animated gifs can only be decoded by decode_gif or decode_image")
    return pixels[0].copy()


def _check_channels(channels: int, *allowed: int) -> None:
    if channels not in allowed:
        wanted = ", ".join(map(str, allowed[:-1])) + f", or {allowed[-1]}"
        raise ValueError(f"channels must be {wanted}, got {channels}")


def _checked_ratio(ratio: int) -> int:
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    return ratio


def _check_transform(dct_method: str | bytes) -> None:
    name = dct_method.decode() if isinstance(dct_method, bytes) else dct_method
    if name not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise ValueError(f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {name}")


@decode_gif_op.kernel("CPU")
def _(ctx: Any, contents: Any) -> Array:
    pixels = _decoded(_data(contents), 3, dtypes.uint8, "DecodeGif")
    return pixels if pixels.ndim == 4 else pixels[None]


@decode_bmp_op.kernel("CPU")
def _(ctx: Any, contents: Any, *, channels: int) -> Array:
    _check_channels(channels, 0, 1, 3, 4)
    return _decoded(_data(contents), channels, dtypes.uint8, "DecodeBmp")


@decode_image_op.kernel("CPU")
def _(ctx: Any, contents: Any, *, channels: int, dtype: DType, expand_animations: bool) -> Array:
    pixels = _decoded(_data(contents), channels, dtype)
    return pixels[0].copy() if pixels.ndim == 4 and not expand_animations else pixels


def _not_an_image(data: bytes, op: str) -> str:
    if op == "DecodeImage":
        return "Unable to decode bytes as JPEG, PNG, GIF, or BMP"
    start = data[:16].decode("latin-1").encode("unicode_escape").decode("ascii")
    found = f"unknown format starting with '{start}'" if data else "empty file"
    return f"Expected image ({'BMP' if op == 'DecodeBmp' else 'JPEG, PNG, or GIF'}), got {found}"


def _decoded(
    data: bytes, channels: int, dtype: DType, op: str = "DecodeImage", ratio: int = 1, truncated: bool = False
) -> Array:
    """The pixels of a file in that dtype; floats are 0 to 1. Ops take every format but BMP, which only its own does."""
    kind = image_files.file_format(data)
    if kind is None:
        raise ValueError(_not_an_image(data, op))
    if (kind == "bmp") != (op == "DecodeBmp") and op != "DecodeImage" and "bmp" in (kind, op[-3:].lower()):
        raise ValueError(
            f"Trying to decode {kind.upper()} format using a wrong op. Use `decode_{kind}` or `decode_image` instead. "
            f"Op used: {op}"
        )
    if kind == "png":
        deep = dtype == dtypes.uint16 or (dtype == dtypes.float32 and data[24:25] == b"\x10")
        pixels = image_files.decode_png(data, channels, wide=deep)
    elif kind == "jpeg":
        pixels = image_files.decode_jpeg(data, channels, ratio, truncated)
    elif kind == "gif":
        if channels not in (0, 3):
            raise ValueError(f"channels must be 0 or 3 for GIF, got {channels}")
        pixels = image_files.decode_gif(data)
    else:
        pixels = image_files.decode_bmp(data, channels)
    if dtype == dtypes.uint16 and pixels.dtype == np.uint8:
        return pixels.astype(np.uint16) * np.uint16(256)
    if dtype == dtypes.float32:
        return pixels.astype(np.float32) * np.float32(1 / np.iinfo(pixels.dtype).max)
    return pixels


@encode_png_op.kernel("CPU")
def _(ctx: Any, image: Array, *, compression: int) -> Any:
    if image.ndim < 3:
        raise ValueError(f"images must be at least rank 3 {dims_text(image.shape)}")
    if not 1 <= image.shape[-1] <= 4:
        raise ValueError(f"image must have 1, 2, 3, or 4 channels {dims_text(image.shape)}")
    if not -1 <= compression <= 9:
        raise ValueError(f"compression should be in [-1,9], got {compression}")
    if not image.size:
        raise ValueError(f"image must not be empty: {dims_text(image.shape)}")
    result = np.empty(image.shape[:-3], object)
    for place in np.ndindex(*result.shape):
        result[place] = image_files.encode_png(image[place], compression)
    return result


def _check_jpeg(image: Array, quality: int) -> None:
    if image.ndim != 3:
        raise ValueError(f"image must be 3-dimensional{dims_text(image.shape)}")
    if image.shape[2] not in (1, 3):
        raise ValueError(f"image must have 1 or 3 channels, got {dims_text(image.shape)}")
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {quality}")
    if not image.size:
        raise ValueError(f"image must not be empty: {dims_text(image.shape)}")


@encode_jpeg_op.kernel("CPU")
def _(
    ctx: Any,
    image: Array,
    *,
    format: Any,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
    density_unit: Any,
    x_density: int,
    y_density: int,
    xmp_metadata: Any,
) -> Any:
    kind, unit, xmp = (v if isinstance(v, bytes) else str(v).encode() for v in (format, density_unit, xmp_metadata))
    _check_jpeg(image, quality)
    wanted = {b"": image.shape[2], b"grayscale": 1, b"rgb": 3}[kind]
    if image.shape[2] != wanted:
        raise ValueError(f"format {kind.decode()} expects {wanted} channels, got {dims_text(image.shape)}")
    density = (x_density, y_density)
    return np.array(
        image_files.encode_jpeg(
            image, quality, progressive, optimize_size, chroma_downsampling, density, unit == b"cm", xmp
        ),
        object,
    )


# --- functions --------------------------------------------------------------------------------------------------------


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """The pixels of a PNG file, [height, width, channels]; `channels` 0 keeps the file's. Source: `tf.image.decode_png`."""
    result: Tensor = decode_png_op(contents, channels=channels, dtype=dtypes.as_dtype(dtype), name=name)
    return result


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a JPEG file, [height, width, channels], scaled down by `ratio`. Source: `tf.image.decode_jpeg`."""
    result: Tensor = decode_jpeg_op(
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )
    return result


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a PNG, JPEG, GIF (rank 4) or BMP file; floats are 0 to 1. Source: `tf.image.decode_image`."""
    with name_scope(name, "decode_image"):
        channels = 0 if channels is None else channels
        if channels not in (0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        if dtypes.as_dtype(dtype) not in (dtypes.float32, dtypes.uint8, dtypes.uint16):
            dest = dtypes.as_dtype(dtype)
            whole = decode_image_op(contents, channels=channels, dtype=dtypes.uint16, expand_animations=expand_animations)
            return convert_image_dtype(whole, dest)
        result: Tensor = decode_image_op(
            contents, channels=channels, dtype=dtypes.as_dtype(dtype), expand_animations=expand_animations
        )
        return result


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames of a GIF file, [frames, height, width, 3]. Source: `tf.image.decode_gif`."""
    result: Tensor = decode_gif_op(contents, name=name)
    return result


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels of a BMP file, [height, width, channels]. Source: `tf.image.decode_bmp`."""
    result: Tensor = decode_bmp_op(contents, channels=channels, name=name)
    return result


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file of uint8 or uint16 pixels of 1 to 4 channels. Source: `tf.image.encode_png`."""
    result: Tensor = encode_png_op(image, compression=compression, name=name)
    return result


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file of uint8 pixels of 1 or 3 channels. Source: `tf.image.encode_jpeg`."""
    result: Tensor = encode_jpeg_op(
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )
    return result
