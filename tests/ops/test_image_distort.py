"""Random parts of images: what is refused, and sizes of few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf

BOXES = [[[0.1, 0.1, 0.9, 0.9]]]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"area_range": [1.0, 1.5]}, r"Area range must be less then or equal to 1.0: \[1, 1.5\]"),
        ({"area_range": [-1.0, 0.5]}, "Area range must be non-negative"),
        ({"area_range": [0.5]}, "Area range field must specify 2 dimensions"),
        ({"aspect_ratio_range": [-1.0, 0.5]}, r"Aspect ratio range must be non-negative .*\[-1, 0.5\]"),
        ({"max_attempts": 0}, "Max attempts must be non-negative .* 0"),
    ],
)
def test_ranges_that_cannot_be_are_refused(given: dict[str, Any], text: str) -> None:
    part = tf.image.sample_distorted_bounding_box([50, 60, 3], BOXES, seed=1, **given)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(part)


def test_the_size_of_all_channels_is_the_largest_number_of_unsigned_types() -> None:
    part = tf.image.sample_distorted_bounding_box(np.array([50, 60, 3], np.uint8), BOXES, seed=1)
    with tf.Session() as session:
        assert session.run(part.size)[2] == 255
