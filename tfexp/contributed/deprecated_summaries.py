"""`tf.contrib.deprecated`: summaries as in TensorFlow 0.x, with tags that are not made unique. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.summary import collected
from tfexp.ops.summary import histogram_summary as histogram_op
from tfexp.ops.summary import scalar_summary as scalar_op
from tfexp.ops.summary_media import audio_summary_op, image_summary_op


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """A summary of numbers, one for each tag: `tags` and `values` have one shape."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return collected(scalar_op(tags, values, name=scope), collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """A summary of the distribution of values."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return collected(histogram_op(tag, values, name=scope), collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: str | None = None) -> Tensor:
    """A summary of the first images of [n, rows, columns, 1 | 3 | 4]."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return collected(image_summary_op(tag, tensor, max_images=max_images, name=scope), collections)


def audio_summary(
    tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, name: str | None = None
) -> Tensor:
    """A summary of the first clips of [n, frames(, channels)] in [-1, 1]."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        return collected(audio_summary_op(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)
