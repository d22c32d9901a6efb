"""What `tf.compat.v2.summary.experimental` has. Source: TF 2.0."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import tfexp as tf
from tfexp.contributed.summary_writing import current
from tfexp.ops import summary_writing as ops
from tfexp.version_2.recorded import recorded


def get_step() -> Any:
    """The step of this thread's summaries that are given none, or None. Source: `tf.summary.experimental.get_step`."""
    return current.step


def set_step(step: Any) -> None:
    """From here on in this thread: the step of summaries that are given none; a variable's value when they are written.

    Source: `tf.summary.experimental.set_step`.
    """
    current.step = step


_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


@contextlib.contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """(tag, name scope) of a summary: the tag has the name as it is, the scope without what names of nodes cannot have.

    Without a name both have the default one.
    Source: `tf.summary.experimental.summary_scope`.
    """
    surrounding = tf.get_default_graph().get_name_scope()
    name = name or default_name
    tag = f"{surrounding}/{name}" if surrounding else name
    with tf.name_scope(_INVALID_SCOPE_CHARACTERS.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Write serialized Summary protos, a string tensor of them. Source: `tf.summary.experimental.write_raw_pb`."""

    def record(writer: Any, step: Any, scope: str) -> Any:
        return ops.write_raw_proto_summary_op(writer, step, tf.identity(tensor), name=scope)

    return recorded(record, step, name or "write_raw_pb")
