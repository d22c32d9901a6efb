"""`tf.contrib.hooks`: hooks that became part of `tf.train`."""

from tfexp.core.gone import missing_from
from tfexp.train.watching_hooks import ProfilerHook as ProfilerHook

__getattr__ = missing_from("tf.contrib.hooks")
