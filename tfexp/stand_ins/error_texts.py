"""`tensorflow.python.framework.error_interpolation`: nodes in texts become where they were made. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_TAG = re.compile(r"\{\{(?P<type>\w+) (?P<name>[A-Za-z0-9_.\-/]+)\}\}")


class _ParseTag(NamedTuple):
    """`{{node a/b}}` in a text."""

    type: str
    name: str


def parse_message(message: str) -> tuple[list[str], list[_ParseTag]]:
    """(the text before each tag and after the last one, the tags)."""
    tags = list(_TAG.finditer(message))
    starts, ends = [0, *(tag.end() for tag in tags)], [*(tag.start() for tag in tags), len(message)]
    texts = [message[start:end] for start, end in zip(starts, ends, strict=True)]
    return texts, [_ParseTag(tag["type"], tag["name"]) for tag in tags]


def interpolate(error_message: str, graph: Any) -> str:
    """The text, with the place that made it behind each node's name; names of nodes that are not there stay as they are."""
    texts, tags = parse_message(error_message)
    known = {op.name: op for op in graph.get_operations()}
    parts = [texts[0]]
    for tag, text in zip(tags, texts[1:], strict=True):
        op = known.get(tag.name)
        made = f"{{{{{tag.type} {tag.name}}}}}" if op is None else f"{tag.type} {tag.name}{_defined_at(op)} "
        parts += [made, text]
    return "".join(parts)


def _defined_at(op: Any) -> str:
    file, line, *_ = _get_defining_frame_from_op(op)
    return f" (defined at {file}:{line})"


def _find_index_of_defining_frame_for_op(op: Any) -> int:
    """Which call of the op's traceback made it: the innermost, as those within the library are not in it."""
    return len(op.traceback) - 1


def _get_defining_frame_from_op(op: Any) -> Any:
    return op.traceback[_find_index_of_defining_frame_for_op(op)]


# --- devices and colocations ----------------------------------------------------------------------------------------------


def _compute_device_summary_from_list(name: str, device_assignment_list: Sequence[Any], prefix: str = "") -> str:
    """A line for each `with tf.device` around the node, and where it stands."""
    if not device_assignment_list:
        return f"{prefix}No device assignments were active during op '{name}' creation."
    lines = [f"{prefix}Device assignments active during op '{name}' creation:"]
    lines += [f"{prefix}  with tf.device({one.obj}): <{one.filename}:{one.lineno}>" for one in device_assignment_list]
    return "\n".join(lines)


def _compute_colocation_summary_from_dict(name: str, colocation_dict: Mapping[str, Any], prefix: str = "") -> str:
    """A line for each `with tf.colocate_with` around the node, and where it stands."""
    if not colocation_dict:
        return f"{prefix}No node-device colocations were active during op '{name}' creation."
    lines = [f"{prefix}Node-device colocations active during op '{name}' creation:"]
    lines += [
        f"{prefix}  with tf.colocate_with({other}): <{place.filename}:{place.lineno}>"
        for other, place in colocation_dict.items()
    ]
    return "\n".join(lines)
