"""What a model may ask of the step that runs: whether it trains, and random numbers that a resumed run draws again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import tfexp as tf

__all__ = ["dropout", "evaluate_only", "evaluation_feeds", "random_normal", "random_uniform", "training"]

_COLLECTION = "tfexp/training"


def training() -> tf.Tensor:
    """A bool scalar of the default graph: true in a step that trains, false while a run evaluates."""
    graph = tf.get_default_graph()
    for found in graph.get_collection_ref(_COLLECTION):
        return found
    with tf.control_dependencies(None), tf.name_scope(None):
        made = tf.placeholder_with_default(True, [], name="training")
    graph.add_to_collection(_COLLECTION, made)
    return made


def evaluate_only() -> None:
    """In the default graph nothing trains: `training`, which was not asked before, is constantly false."""
    assert not tf.get_collection(_COLLECTION)
    tf.add_to_collection(_COLLECTION, tf.constant(False, name="training"))


def evaluation_feeds(graph: tf.Graph) -> dict[Any, Any]:
    """What an evaluation feeds beside its rows."""
    return dict.fromkeys(graph.get_collection(_COLLECTION), False)


def dropout(inputs: tf.Tensor, rate: float, name: str) -> tf.Tensor:
    """While training, each value is zero with probability `rate`, else 1 / (1 - rate) of what it was.

    Source: Srivastava et al. 2014, "Dropout".
    """
    if not rate:
        return inputs
    with tf.name_scope(name):
        kept = tf.cast(random_uniform(tf.shape(inputs), "draw") >= rate, tf.float32) / (1.0 - rate)
        return tf.where(tf.fill(tf.shape(inputs), training()), inputs * kept, inputs)


def random_uniform(shape: Sequence[int] | tf.Tensor, name: str) -> tf.Tensor:
    """float32 numbers in [0, 1) that follow from the run's seed, the step and the name of the scope alone.

    A run that goes on from a checkpoint draws what one that was never interrupted would have drawn; the sequences of
    TensorFlow's own random ops begin anew in each session.
    """
    with tf.name_scope(name) as scope:
        return tf.random.stateless_uniform(shape, _key(scope))


def random_normal(shape: Sequence[int] | tf.Tensor, name: str) -> tf.Tensor:
    """float32 numbers of mean 0 and deviation 1; as `random_uniform`."""
    with tf.name_scope(name) as scope:
        return tf.random.stateless_normal(shape, _key(scope))


def _key(scope: str) -> tf.Tensor:
    """Where the numbers of one step begin, int64 [2]."""
    step = tf.train.get_global_step()
    if step is None:
        raise ValueError(f"{scope}: random numbers that follow the step need tf.train.get_or_create_global_step() before")
    seed = (tf.get_default_graph().seed or 0) << 32 | zlib.crc32(scope.encode())
    return tf.stack([tf.constant(seed, tf.int64), tf.cast(step, tf.int64)], name="key")
