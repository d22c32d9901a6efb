"""Summaries of images and sounds."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from PIL import Image

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError


def summary(tensor, feeds=None):
    with tf.Session() as session:
        return tf.Summary.FromString(session.run(tensor, feeds))


def pixels(value):
    return np.array(Image.open(io.BytesIO(value.image.encoded_image_string)))


def test_bytes_are_shown_as_they_are() -> None:
    images = np.arange(60, dtype=np.uint8).reshape(1, 3, 5, 4)
    with tf.Graph().as_default():
        (value,) = summary(tf.summary.image("alone", images, max_outputs=1)).value
    assert value.tag == "alone/image"
    assert (value.image.height, value.image.width, value.image.colorspace) == (3, 5, 4)
    np.testing.assert_array_equal(pixels(value), images[0])


def test_numbers_are_scaled_image_by_image() -> None:
    images = np.float32([[0, 1, 2], [-1, 0, 3], [0, 0, 1e-9], [0, np.nan, 5]]).reshape(4, 1, 3, 1)
    with tf.Graph().as_default():
        values = summary(tf.summary.image("x", images, max_outputs=4)).value
    assert [v.tag for v in values] == [f"x/image/{i}" for i in range(4)]
    # With negative numbers 0 is 128; what is all but dark stays dark; what is no number is red (255 of one channel).
    wanted = [[0, 127, 255], [85, 128, 255], [0, 0, 0], [0, 255, 255]]
    assert [pixels(v).ravel().tolist() for v in values] == wanted


def test_images_have_four_dimensions_and_1_3_or_4_channels() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32)
        image = tf.summary.image("x", x)
        for shape in ((2, 3, 5), (2, 3, 5, 2)):
            with pytest.raises(InvalidArgumentError, match="Tensor must be 4-D with last dim 1, 3, or 4"):
                summary(image, {x: np.ones(shape)})


def test_sounds_are_16_bit_wav() -> None:
    clips = np.float32([[[0, 0.5], [-1, 2], [1.5 / 32768, -1.5 / 32768]]])
    with tf.Graph().as_default():
        values = summary(tf.summary.audio("x", clips, 8000, family="f")).value
    assert [v.tag for v in values] == ["f/f/x/audio/0"]
    audio = values[0].audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames, audio.content_type) == (8000, 2, 3, "audio/wav")
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as sound:
        assert sound.getframerate() == 8000
        samples = np.frombuffer(sound.readframes(3), "<i2").reshape(3, 2)
    assert samples.tolist() == [[0, 16384], [-32768, 32767], [2, -2]]


def test_sounds_refuse() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32)
        with pytest.raises(InvalidArgumentError, match="Tensor must be 3-D or 2-D"):
            summary(tf.summary.audio("x", x, 8000), {x: [1.0]})
        with pytest.raises(InvalidArgumentError, match="sample_rate must be > 0"):
            summary(tf.summary.audio("x", x, 0), {x: [[1.0]]})
