"""Devices of strategies: whole names, and where a value's parts are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tfexp.core.device import DeviceName, canonical_name
from tfexp.distribute.values import copies_of
from tfexp.graph.scopes import executing_eagerly

_OPEN = DeviceName(replica=0, task=0, device_type="CPU", device_index=0)
_OPEN_EAGERLY = dataclasses.replace(_OPEN, job="localhost")


def whole(name: Any) -> str:
    """A device's name with nothing left open but, in graphs, the job: `/replica:0/task:0/device:CPU:0` for `/cpu:0`."""
    return str(DeviceName.parse(canonical_name(name)).merged_over(_OPEN_EAGERLY if executing_eagerly() else _OPEN))


def whole_and_different(names: Sequence[Any], argument: str) -> tuple[str, ...]:
    """The devices' names. ValueError for none and where two are the same."""
    made = tuple(map(whole, names))
    if not made:
        raise ValueError(f"Must specify at least one device in `{argument}`.")
    if len(set(made)) < len(made):
        raise ValueError(f"No duplicates allowed in `{argument}` argument: {list(made)}")
    return made


def devices_of(destinations: Any) -> tuple[str, ...]:
    """Where something is to be: a device, a list of them, or where the parts of a value or the copies of a variable are."""
    if isinstance(destinations, str):
        return (destinations,)
    if isinstance(destinations, (list, tuple)):
        return tuple(destinations)
    parts = copies_of(destinations)
    return tuple(part.device for part in ((destinations,) if parts is None else parts))
