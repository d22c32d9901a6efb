"""What `tf.compat.v2.summary` has: summaries that a run writes itself, in graphs and where ops run at once.

Source: TF 2.0. Those of a kind (scalars, images, …) are tensors with metadata that says which plugin of TensorBoard's shows
them, and how. In graphs each gives a bool tensor that says whether it was written; `tf.summary.all_v2_summary_ops` has all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import tfexp as tf
from tfexp.contributed.summary_writing import SummaryWriter as SummaryWriter
from tfexp.contributed.summary_writing import flush as flush
from tfexp.contributed.summary_writing import record_if as record_if
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.unpublished import uid
from tfexp.ops import summary_writing as ops
from tfexp.version_2.recorded import recorded
from tfexp.version_2.summary_experimental import summary_scope


def create_file_writer(
    logdir: str,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of an event file of its own in `logdir`; ValueError for None. `tf.summary.create_file_writer`, TF 2.0.

    A function that is traced makes it once, outside: there and where ops run at once, ValueError for tensors of graphs.
    max_queue (10), flush_millis (two minutes): when what waits is written. filename_suffix: ".v2".
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    given = {"logdir": logdir, "max_queue": max_queue, "flush_millis": flush_millis, "filename_suffix": filename_suffix}
    traced = tf.get_default_graph().is_traced
    with tf.name_scope(name, "create_file_writer"), tf.device("cpu:0"), tf.init_scope():
        if tf.executing_eagerly():
            _check_no_graph_tensors(given, traced)
        folder = tf.convert_to_tensor(os.fspath(logdir) if isinstance(logdir, os.PathLike) else logdir, tf.string)
        queued = tf.convert_to_tensor(10 if max_queue is None else max_queue)
        millis = tf.convert_to_tensor(2 * 60 * 1000 if flush_millis is None else flush_millis)
        unique = f".{os.getpid()}.{uid()}"
        suffix = tf.constant(unique) + tf.convert_to_tensor(".v2" if filename_suffix is None else filename_suffix)
        # Where ops run at once there are no node names to tell writers apart.
        handle = ops.summary_writer_op(shared_name=unique if tf.executing_eagerly() else "")
        options = (folder, queued, millis, suffix)
        return SummaryWriter(
            handle, lambda handle: ops.create_summary_file_writer_op(handle, *options), closes_for_good=True
        )


def _check_no_graph_tensors(given: Mapping[str, Any], traced: bool) -> None:
    for name, value in given.items():
        if isinstance(value, tf.Tensor) and not isinstance(value, EagerTensor):
            told = f'Invalid graph Tensor argument "{name}={value}" to '
            if not traced:
                raise ValueError(f"{told}eagerly executed create_file_writer().")
            raise ValueError(
                f"{told}create_file_writer() inside an @tf.function. The create call will be lifted into the outer eager "
                "execution context, so it cannot consume graph tensors defined inside the function body."
            )


def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, where one is asked for. Source: `tf.summary.create_noop_writer`, TF 2.0."""
    return SummaryWriter(None, None)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Any:
    """Write a tensor under a tag; `metadata` is a SummaryMetadata (a proto, or serialized). `tf.summary.write`.

    step: of int64; `tf.summary.experimental.get_step()` if None; ValueError if there is none either. Gives a bool: written?
    """
    described = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata or b""

    def record(writer: Any, step: Any, scope: str) -> Any:
        return ops.write_summary_op(writer, step, tf.identity(tensor), tag, described, name=scope)

    return recorded(record, step, name or "write_summary")


# --- the kinds that TensorBoard shows ------------------------------------------------------------------------------------


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> tf.SummaryMetadata:
    data = tf.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return tf.SummaryMetadata(summary_description=description, plugin_data=data)


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write a number, as float32. ValueError for another shape. Source: `tensorboard.plugins.scalar.summary_v2`."""
    with summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        tf.debugging.assert_scalar(data)
        return write(tag, tf.cast(data, tf.float32), step, _metadata("scalars", description))


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write strings of any shape. TypeError for other tensors. Source: `tensorboard.plugins.text.summary_v2`."""
    with summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        tf.debugging.assert_type(data, tf.string)
        return write(tag, data, step, _metadata("text", description))


def image(name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None) -> Any:
    """Write the first images of [n, rows, columns, 1 to 4]: of uint8, or real numbers in [0, 1].

    ValueError for another rank. Written are strings: width, height, PNGs. Source: `tensorboard.plugins.image.summary_v2`.
    """
    with summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):
        tf.debugging.assert_rank(data, 4)
        tf.debugging.assert_non_negative(max_outputs)
        pixels = tf.image.convert_image_dtype(tf.convert_to_tensor(data), tf.uint8, saturate=True)
        files = _each(tf.image.encode_png, pixels[:max_outputs], "encode_each_image")
        shape = tf.shape(pixels)
        size = tf.stack([tf.as_string(shape[2], name="width"), tf.as_string(shape[1], name="height")], name="dimensions")
        return write(tag, tf.concat([size, files], axis=0), step, _metadata("images", description))


_WAV = b"\x10\x0b"  # of the plugin's own message: field 2, the encoding, is 11


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """The first clips of [n, frames, channels], float32 in [-1, 1]. ValueError for another rank or encoding than "wav".

    Written are pairs of strings: a WAV and an empty label. Source: `tensorboard.plugins.audio.summary_v2`.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with summary_scope(name, "audio_summary", values=[data, sample_rate, max_outputs, step]) as (tag, _):
        tf.debugging.assert_rank(data, 3)
        tf.debugging.assert_non_negative(max_outputs)
        clips = tf.convert_to_tensor(data)[:max_outputs]
        files = _each(lambda clip: tf.audio.encode_wav(clip, sample_rate), clips, "encode_each_audio")
        labelled = tf.stack([files, tf.fill(tf.shape(files), "")], axis=1)
        return write(tag, labelled, step, _metadata("audio", description, _WAV))


def _each(encode: Callable[[Any], Any], batch: Any, name: str) -> Any:
    """The file of each row, none of none."""
    files = tf.map_fn(encode, batch, dtype=tf.string, name=name)
    return tf.cond(tf.shape(batch)[0] > 0, lambda: files, lambda: tf.constant([], tf.string))


def histogram(name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None) -> Any:
    """Write how a tensor's elements are spread. Source: `tensorboard.plugins.histogram.summary_v2`.

    Written is float64 [`buckets` (30), (from, to, count)]; one bucket, as wide as 1, if all are the same; none of none.
    """
    with summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        counted = _buckets(data, 30 if buckets is None else buckets)
        return write(tag, counted, step, _metadata("histograms", description))


def _buckets(data: Any, number: Any) -> Any:
    with tf.name_scope("buckets"):
        tf.debugging.assert_scalar(number)
        tf.debugging.assert_type(number, tf.int32)
        values = tf.cast(tf.reshape(data, [-1]), tf.float64)

        def some() -> Any:
            low, high = tf.reduce_min(values), tf.reduce_max(values)

            def same() -> Any:
                return tf.stack([[low - 0.5, low + 0.5, tf.cast(tf.size(values), tf.float64)]])

            def different() -> Any:
                width = (high - low) / tf.cast(number, tf.float64)
                inside = tf.minimum(tf.cast(tf.floor((values - low) / width), tf.int32), number - 1)  # the last has its end
                counts = tf.math.bincount(inside, minlength=number, maxlength=number, dtype=tf.float64)
                edges = tf.concat([tf.linspace(low, high, number + 1)[:-1], [high]], axis=0)
                return tf.stack([edges[:-1], edges[1:], counts], axis=1)

            return tf.cond(tf.equal(low, high), same, different)

        return tf.cond(tf.equal(tf.size(values), 0), lambda: tf.zeros([0, 3], tf.float64), some)
