"""Image files as TensorFlow reads and writes them: PNG, JPEG, GIF and BMP, bytes to pixels and back.

Pixels are [height, width, channels] (GIF: [frames, height, width, 3]). Pillow does the coding; it is loaded when a file
is first read or written. ValueError says what is wrong with a file.
"""

from __future__ import annotations

import io
import struct
import warnings
from typing import Any

import numpy as np

Pixels = np.ndarray

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# What one number of gray is made of, in parts of 2**15: libpng's integers for the weights that TensorFlow asks for.
_GRAY = np.array([9798, 19235, 3735], np.uint32)


def file_format(data: bytes) -> str | None:
    """`png`, `jpeg`, `gif` or `bmp` by the first bytes; None for anything else."""
    for name, start in (("jpeg", b"\xff\xd8\xff"), ("png", b"\x89PNG\r\n\x1a\n"), ("gif", b"GIF8"), ("bmp", b"BM")):
        if data.startswith(start):
            return name
    return None


def _opened(data: bytes, wanted: str, what: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # TensorFlow reads images of any size
            return Image.open(io.BytesIO(data), formats=[wanted])
    except UnidentifiedImageError:
        raise ValueError(f"{what}: the data are no {wanted} file") from None
    except OSError as error:
        raise ValueError(f"{what}: {error}") from None


def _loaded(image: Any, what: str) -> Any:
    try:
        image.load()
    except (OSError, SyntaxError, ValueError, struct.error) as error:
        raise ValueError(f"{what}: {error}") from None
    return image


def with_channels(pixels: Pixels, channels: int, opaque: int) -> Pixels:
    """Pixels of 1 to 4 channels (gray, gray and alpha, RGB, RGBA) with `channels` of them; 0 leaves them as they are.

    opaque: the alpha of pixels that have none.
    """
    have = pixels.shape[-1]
    if channels in (0, have):
        return pixels
    color = pixels[..., : have - 1 if have in (2, 4) else have]
    alpha = pixels[..., -1:] if have in (2, 4) else np.full((*pixels.shape[:-1], 1), opaque, pixels.dtype)
    if channels <= 2 and color.shape[-1] == 3:
        color = ((color.astype(np.uint32) @ _GRAY) >> 15).astype(pixels.dtype)[..., None]
    elif channels >= 3 and color.shape[-1] == 1:
        color = np.repeat(color, 3, -1)
    return np.concatenate([color, alpha], -1) if channels in (2, 4) else np.ascontiguousarray(color)


# --- PNG --------------------------------------------------------------------------------------------------------------


def decode_png(data: bytes, channels: int, wide: bool) -> Pixels:
    """uint8 pixels, or uint16 if `wide`; what the file has in the other width is scaled."""
    image = _opened(data, "PNG", "Invalid PNG header, data size " + str(len(data)))
    what = "Invalid PNG data, size " + str(len(data))
    if not _ends(data):
        raise ValueError(f"{what}: it has no end")
    deep = data[24:25] == b"\x10"
    if deep and wide:
        pixels = _deep_pixels(data, what)
    else:
        pixels = _plain_pixels(_loaded(image, what), deep, data[25:26] == b"\x04")
        if wide:
            pixels = pixels.astype(np.uint16) * np.uint16(257)
    # TensorFlow fills alpha with the largest number of the file's depth, also where colors were of a smaller one.
    depth = min(data[24], 8)
    return with_channels(pixels, channels, ((1 << depth) - 1) * (257 if wide else 1))


def _ends(data: bytes) -> bool:
    """Whether the last chunk of a PNG file is whole; Pillow reads files without it, which libpng refuses."""
    at = 8  # after the signature; a chunk is its length, its kind, so many bytes, and a checksum
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at += 12 + length
    return False


def _plain_pixels(image: Any, deep: bool, gray_alpha: bool) -> Pixels:
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    pixels = np.asarray(image)
    if gray_alpha and image.mode == "RGBA":
        pixels = pixels[..., [0, 3]]
    if deep and pixels.dtype.itemsize > 1:
        pixels = pixels >> 8
    return (pixels[..., None] if pixels.ndim == 2 else pixels).astype(np.uint8)


def _deep_pixels(data: bytes, what: str) -> Pixels:
    """16 bits for each channel. Pillow keeps 8 of a color's, which ones its raw mode says: so it reads the file twice."""
    gray, gray_alpha = data[25:26] == b"\x00", data[25:26] == b"\x04"
    halves = []
    for order in ("B", "L"):
        image = _opened(data, "PNG", what)
        if gray:
            return np.asarray(_loaded(image, what)).astype(np.uint16)[..., None]
        if not image.tile:
            raise ValueError(what)
        codec, box, offset, raw = image.tile[0]
        if gray_alpha:  # its two numbers of 16 bits look like four of 8
            image.tile = [(codec, box, offset, "RGBA")]
            four = np.asarray(_loaded(image, what)).astype(np.uint16)
            return (four[..., 0::2] << 8) | four[..., 1::2]
        if order == "L":
            image.tile = [(codec, box, offset, raw.replace(";16B", ";16L"))]
        halves.append(np.asarray(_loaded(image, what)).astype(np.uint16))
    return (halves[0] << 8) | halves[1]


def encode_png(pixels: Pixels, compression: int = -1) -> bytes:
    """A PNG file of uint8 or uint16 pixels of 1 to 4 channels; compression -1 (zlib's choice) to 9."""
    height, width, channels = pixels.shape
    if pixels.dtype == np.uint8:
        from PIL import Image

        buffer = io.BytesIO()
        flat = pixels[:, :, 0] if channels == 1 else pixels
        Image.fromarray(np.ascontiguousarray(flat), _MODES[channels]).save(buffer, "PNG", compress_level=compression)
        return buffer.getvalue()
    import zlib

    # Pillow writes no 16-bit colors. Rows start with the number of their filter: 0, none.
    rows = np.zeros((height, 1 + 2 * width * channels), np.uint8)
    rows[:, 1:] = np.ascontiguousarray(pixels.astype(">u2")).view(np.uint8).reshape(height, -1)
    color_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 16, color_type, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), compression)),
        (b"IEND", b""),
    )
    body = (struct.pack(">I", len(d)) + kind + d + struct.pack(">I", zlib.crc32(kind + d)) for kind, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


# --- JPEG -------------------------------------------------------------------------------------------------------------


def decode_jpeg(data: bytes, channels: int, ratio: int = 1, truncated: bool = False) -> Pixels:
    """uint8 pixels, scaled down by `ratio` while decoding; `truncated`: what is missing from the file is gray."""
    what = "Invalid JPEG data or crop window, data size " + str(len(data))
    image = _opened(data, "JPEG", what)
    channels = channels or (1 if image.mode == "L" else 3)
    if channels not in (1, 3):
        raise ValueError(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    mode = "L" if channels == 1 else "RGB"
    image.draft(mode, (max(image.width // ratio, 1), max(image.height // ratio, 1)))
    if truncated:
        from PIL import ImageFile

        keep, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, True
        try:
            _loaded(image, what)
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = keep
    else:
        _loaded(image, what)
    pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels[..., None].copy() if pixels.ndim == 2 else pixels.copy()


def encode_jpeg(
    pixels: Pixels,
    quality: int,
    progressive: bool = False,
    optimize: bool = False,
    downsampling: bool = True,
    density: tuple[int, int] = (300, 300),
    density_in_cm: bool = False,
    xmp: bytes = b"",
) -> bytes:
    """A JPEG file of uint8 pixels of 1 or 3 channels; `density` in pixels per inch or centimetre."""
    from PIL import Image

    gray = pixels.shape[2] == 1
    buffer = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if gray else pixels), "L" if gray else "RGB")
    extra = {"xmp": xmp} if xmp else {}
    image.save(
        buffer,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize,
        subsampling=2 if downsampling else 0,
        dpi=density,
        **extra,
    )
    data = bytearray(buffer.getvalue())
    if density_in_cm and data[6:11] == b"JFIF\0":
        data[13] = 2  # the JFIF header's unit of density
    return bytes(data)


# --- GIF, BMP ---------------------------------------------------------------------------------------------------------


def decode_gif(data: bytes) -> Pixels:
    """uint8 [frames, height, width, 3]; each frame is drawn over those before it."""
    what = "Invalid GIF data (size " + str(len(data)) + ")"
    image = _opened(data, "GIF", what)
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(np.asarray(_loaded(image, what).convert("RGB")))
    return np.stack(frames)


def decode_bmp(data: bytes, channels: int) -> Pixels:
    """uint8 pixels of an uncompressed BMP of 8 (gray), 24 or 32 bits for each."""
    if len(data) < 32:
        raise ValueError(
            f"Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and "
            f"bpp, got {len(data)} bytes"
        )
    start, _, width, height, _, bits = struct.unpack_from("<IIiiHH", data, 10)
    bytes_each = bits // 8
    if channels and channels != bytes_each:
        raise ValueError(f"channels attribute {channels} does not match bits per pixel from file {bytes_each}")
    if bytes_each not in (1, 3, 4):
        raise ValueError(f"Number of channels must be 1, 3 or 4, was {bytes_each}")
    rows = abs(height)
    stride = (bytes_each * width + 3) // 4 * 4
    if width <= 0 or rows == 0 or start < 0 or len(data) - start < stride * (rows - 1) + bytes_each * width:
        raise ValueError(f"Incomplete bmp content, requires at least {start + stride * rows} bytes, got {len(data)} bytes")
    body = np.zeros(rows * stride, np.uint8)
    present = np.frombuffer(data, np.uint8, offset=start)[: body.size]
    body[: present.size] = present
    pixels = body.reshape(rows, stride)[:, : width * bytes_each].reshape(rows, width, bytes_each)
    if height > 0:
        pixels = pixels[::-1]
    order = [0] if bytes_each == 1 else [2, 1, 0, 3][:bytes_each]
    return np.ascontiguousarray(pixels[..., order])
