"""Image files there and back, and those that cannot be read."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError

SMOOTH = (np.add.outer(np.arange(23), np.arange(17))[..., None] * np.array([3, 2, 1])).astype(np.uint8)


def run(*fetches):
    with tf.Session() as session:
        results = session.run(fetches)
    return results[0] if len(results) == 1 else results


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def saved(pixels, kind, **options):
    buffer = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_keeps_every_bit(dtype, channels):
    pixels = np.random.default_rng(channels).integers(0, np.iinfo(dtype).max, (11, 7, channels), dtype, endpoint=True)
    np.testing.assert_array_equal(run(tf.image.decode_png(tf.image.encode_png(pixels), dtype=tf.as_dtype(dtype))), pixels)


def test_png_of_a_batch_and_by_level():
    pixels = np.stack([SMOOTH, SMOOTH[::-1]])
    best, worst = run(tf.image.encode_png(pixels, 9), tf.image.encode_png(pixels, 0))
    assert best.shape == (2,) and all(len(b) < len(w) for b, w in zip(best, worst, strict=True))
    np.testing.assert_array_equal(run(tf.image.decode_png(worst[1])), SMOOTH[::-1])


def test_png_channels():
    data = saved(SMOOTH, "PNG")
    gray, rgba = run(tf.image.decode_png(data, 1), tf.image.decode_png(data, 4))
    wanted = SMOOTH.astype(float) @ [0.299, 0.587, 0.114]
    assert np.abs(gray[..., 0] - wanted).max() <= 1
    np.testing.assert_array_equal(rgba, np.concatenate([SMOOTH, np.full((23, 17, 1), 255, np.uint8)], -1))
    np.testing.assert_array_equal(run(tf.image.decode_png(saved(SMOOTH[..., 0], "PNG"), 3)), SMOOTH[..., [0, 0, 0]])
    palette = Image.fromarray(SMOOTH).quantize(16)
    np.testing.assert_array_equal(run(tf.image.decode_png(saved(palette, "PNG"))), np.asarray(palette.convert("RGB")))


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}])
def test_jpeg_comes_close(options):
    pixels = run(tf.image.decode_jpeg(tf.image.encode_jpeg(SMOOTH, **options)))
    assert pixels.dtype == np.uint8 and np.abs(pixels.astype(int) - SMOOTH).mean() < 3


def test_jpeg_scale_and_channels():
    data = saved(SMOOTH, "JPEG", quality=95)
    assert run(tf.image.decode_jpeg(data, ratio=2)).shape == (12, 9, 3)
    assert run(tf.image.decode_jpeg(data, channels=1)).shape == (23, 17, 1)
    with pytest.raises(InvalidArgumentError, match="ratio must be 1, 2, 4, or 8"):
        run(tf.image.decode_jpeg(data, ratio=3))


def test_jpeg_density_and_quality():
    metric, small = run(
        tf.image.encode_jpeg(SMOOTH, density_unit="cm", x_density=7, y_density=11), tf.image.encode_jpeg(SMOOTH, quality=10)
    )
    assert metric[6:11] == b"JFIF\0" and metric[13:18] == b"\2\0\7\0\x0b"
    assert len(small) < len(metric)
    with pytest.raises(InvalidArgumentError, match=r"quality must be in \[0,100\]"):
        run(tf.image.encode_jpeg(SMOOTH, quality=101))


def test_gif_and_image():
    frames = [Image.fromarray(np.roll(SMOOTH, n, 0)).quantize(8) for n in range(3)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    wanted = np.stack([np.asarray(frame.convert("RGB")) for frame in frames])
    np.testing.assert_array_equal(run(tf.image.decode_gif(data)), wanted)
    np.testing.assert_array_equal(run(tf.image.decode_image(data)), wanted)
    np.testing.assert_array_equal(run(tf.image.decode_image(data, expand_animations=False)), wanted[0])
    with pytest.raises(InvalidArgumentError, match="Got 3 frames"):
        run(tf.image.decode_png(data))


@pytest.mark.parametrize("kind", ["PNG", "BMP"])
def test_decode_image_in_every_type(kind):
    image = tf.constant(saved(SMOOTH, kind))
    plain, floats = run(tf.image.decode_image(image), tf.image.decode_image(image, dtype=tf.float32))
    np.testing.assert_array_equal(plain, SMOOTH)
    np.testing.assert_allclose(floats, SMOOTH / 255, rtol=1e-6)


def test_bmp_of_every_depth():
    np.testing.assert_array_equal(run(tf.image.decode_bmp(saved(SMOOTH, "BMP"))), SMOOTH)
    np.testing.assert_array_equal(run(tf.image.decode_bmp(saved(SMOOTH[..., 0], "BMP"))), SMOOTH[..., :1])
    with pytest.raises(InvalidArgumentError, match="does not match bits per pixel"):
        run(tf.image.decode_bmp(saved(SMOOTH, "BMP"), channels=1))
    with pytest.raises(InvalidArgumentError, match="Incomplete bmp content"):
        run(tf.image.decode_bmp(saved(SMOOTH, "BMP")[:100]))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"nothing at all", "Unable to decode bytes as JPEG, PNG, GIF, or BMP"),
        (saved(SMOOTH, "PNG")[:60], "Invalid PNG data"),
        (saved(SMOOTH, "PNG")[:-1], "Invalid PNG data"),
        (saved(SMOOTH, "JPEG")[:300], "Invalid JPEG data"),
    ],
)
def test_what_cannot_be_read(data, text):
    with pytest.raises(InvalidArgumentError, match=text):
        run(tf.image.decode_image(data))


def test_what_is_no_image_is_told_by_its_first_bytes():
    for decode in (tf.image.decode_png, tf.image.decode_jpeg, tf.image.decode_gif):
        with pytest.raises(InvalidArgumentError, match=r"Expected image \(JPEG, PNG, or GIF\), got empty file"):
            run(decode(b""))
        with pytest.raises(InvalidArgumentError, match=r"got unknown format starting with 'nothing\\x00at all t'"):
            run(decode(b"nothing\0at all that is known"))
    with pytest.raises(InvalidArgumentError, match=r"Expected image \(BMP\), got unknown format starting with 'no'"):
        run(tf.image.decode_bmp(b"no"))


def test_options_are_checked_when_a_file_is_read_or_written():
    image = tf.zeros([2, 3, 3], tf.uint8)
    with pytest.raises(InvalidArgumentError, match=r"compression should be in \[-1,9\], got 10"):
        run(tf.image.encode_png(image, compression=10))
    with pytest.raises(InvalidArgumentError, match=r"format grayscale expects 1 channels, got \[2,3,3\]"):
        run(tf.image.encode_jpeg(image, format="grayscale"))
    with pytest.raises(InvalidArgumentError, match=r"dct_method must be one of \{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'\}"):
        run(tf.image.decode_jpeg(tf.image.encode_jpeg(image), dct_method="FAST"))


def test_numbers_of_channels_are_checked_when_a_file_is_read():
    decoded = tf.image.decode_jpeg(tf.image.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8)), 4)  # in a branch not taken, perhaps
    assert decoded.shape.as_list() == [None, None, 4]
    with pytest.raises(InvalidArgumentError, match="channels must be 0, 1, or 3, got 4"):
        run(decoded)


def test_static_shapes():
    contents = tf.placeholder(tf.string, [])
    assert tf.image.decode_png(contents, 3).shape.as_list() == [None, None, 3]
    assert tf.image.decode_image(contents).shape.ndims is None
    assert tf.image.encode_png(tf.zeros([2, 5, 7, 3], tf.uint8)).shape.as_list() == [2]
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.image.decode_png(tf.placeholder(tf.string, [2]))
