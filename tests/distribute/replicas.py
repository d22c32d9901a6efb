"""Replicas for tests: two virtual devices of one process, and sessions that have them."""

from __future__ import annotations

from typing import Any

import tfexp as tf

DEVICES = ("/cpu:0", "/cpu:1")


def two() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(list(DEVICES))


def session() -> tf.Session:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": len(DEVICES)}))


def number() -> Any:
    """1.0 in the first replica, 2.0 in the second."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0


def initialized() -> tf.Session:
    """A session in which all variables have their initial values."""
    opened = session()
    opened.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return opened
