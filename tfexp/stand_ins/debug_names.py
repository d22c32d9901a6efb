"""Names in dumps: those of `tensorflow.python.debug.lib`'s `debug_graphs`, `debug_data` and `common`. Source: TF 1.15."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from tfexp.debug.graphs import COPY, WATCH
from tfexp.formats import debug_dump

GRPC_URL_PREFIX = "grpc://"
METADATA_FILE_PREFIX = debug_dump.PREFIX
CORE_METADATA_TAG, GRAPH_FILE_TAG, DEVICE_TAG, FETCHES_INFO_FILE_TAG, FEED_KEYS_INFO_FILE_TAG = (
    name.removeprefix(debug_dump.PREFIX)
    for name in (
        *(debug_dump.CORE_METADATA, debug_dump.GRAPH, debug_dump.DEVICE),
        *(debug_dump.FETCHES_INFO, debug_dump.FEED_KEYS_INFO),
    )
)
HASH_TAG = "hash"

RunKey = namedtuple("RunKey", ["feed_names", "fetch_names"])

# --- nodes and outputs ------------------------------------------------------------------------------------------------


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """(node, slot) of `node:slot`; of a node, (node, None). ValueError for a slot that is no number."""
    node, separator, slot = name.rpartition(":")
    return (node, int(slot)) if separator and not name.startswith("^") else (name, None)


def get_node_name(element_name: str) -> str:
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name: str) -> int:
    """The slot of `node:slot`; 0 where none is named."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name: str) -> bool:
    """Whether a node copies an output for those that watch it."""
    return node_name.startswith(COPY)


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """(node, slot, number, debug op) of `__dbg_node:slot_number_op`. ValueError for other names."""
    if not node_name.startswith(WATCH):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name.removeprefix(WATCH).rsplit("_", 2)
    if len(parts) < 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    watched, number, op = parts
    if watched.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    return get_node_name(watched), get_output_slot(watched), int(number), op


# --- devices ----------------------------------------------------------------------------------------------------------


def device_name_to_device_path(device_name: str) -> str:
    """The folder for what is dumped of a device."""
    return debug_dump.folder_of_device(device_name)


def device_path_to_device_name(device_dir: str) -> str:
    """The device of such a folder."""
    return debug_dump.device_of_folder(device_dir)


# --- runs -------------------------------------------------------------------------------------------------------------


def get_graph_element_name(elem: Any) -> str:
    """The name of what has one; of anything else its text."""
    return str(getattr(elem, "name", elem))


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names of all elements of nested lists, tuples and dictionaries' values."""
    if isinstance(feeds_or_fetches, Mapping):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for part in feeds_or_fetches for name in get_flattened_names(part)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """What runs of the same feeds and fetches have in common, as JSON."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
