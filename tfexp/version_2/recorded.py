"""When `tf.compat.v2.summary`'s functions write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tfexp as tf
from tfexp.contributed.smart_cond import smart_cond
from tfexp.contributed.summary_writing import current, recorded_here
from tfexp.graph.collections import GraphKeys


def recorded(record: Callable[[Any, Any, str], Any], step: Any, name: str) -> Any:
    """`record(writer's handle, step, scope)` where there is a writer and summaries are recorded; a bool: were they?"""
    with tf.name_scope(name) as scope:
        if current.writer is None:
            return tf.constant(False)
        at = current.step if step is None else step
        if at is None:
            raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")

        def write_it() -> Any:
            with tf.device("cpu:0"):
                written = record(current.writer._handle, at, scope)
                with tf.control_dependencies([] if written is None else [written]):
                    return tf.constant(True)

        condition = recorded_here(True)
        if not tf.executing_eagerly():
            both = tf.logical_and(True, condition)  # of all replicas, and of this one
            condition = condition if isinstance(condition, bool) else both
        op = smart_cond(condition, write_it, lambda: tf.constant(False), name="summary_cond")
        if not tf.executing_eagerly():
            tf.add_to_collection(GraphKeys._SUMMARY_COLLECTION, op)
        return op
