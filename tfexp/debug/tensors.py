"""One dumped value: where and when it came up, and what it is."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from tfexp.formats.debug_dump import device_of_folder, read_event
from tfexp.formats.tensor import make_ndarray


class InconvertibleTensorProto:
    """What stands for a value that is no array: a handle, or (`initialized` is False) nothing yet."""

    def __init__(self, tensor_proto: Any, initialized: bool = True):
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self) -> str:
        return str(self._tensor_proto) if self._initialized else f"Uninitialized tensor:\n{self._tensor_proto}"

    @property
    def initialized(self) -> bool:
        """Whether the tensor had a value."""
        return self._initialized


def load_tensor_from_event(event: Any) -> Any:
    """The array that a dump's Event holds, or an InconvertibleTensorProto. Source: `tf_debug.load_tensor_from_event`."""
    proto = event.summary.value[0].tensor
    size = math.prod(dim.size for dim in proto.tensor_shape.dim)
    if not (proto.tensor_content or proto.string_val or size == 0):
        return InconvertibleTensorProto(proto, initialized=False)
    try:
        return make_ndarray(proto)
    except TypeError:  # of a dtype that arrays cannot have
        return InconvertibleTensorProto(proto)


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The same for a file. Raises as `file_errors` says. Source: `tf_debug.load_tensor_from_event_file`."""
    return load_tensor_from_event(read_event(event_file_path))


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has an infinity or a NaN in it: a filter of tensors. Source: `tf_debug.has_inf_or_nan`."""
    if not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


class DebugTensorDatum:
    """A file of a dump: `debug_dump_rel_path` in `dump_root`, whose first folder names the device, and which tells the rest.

    Without a folder there is no device.
    ValueError for a file that is not called like a dumped value's. Source: `tf_debug.DebugTensorDatum`.
    """

    def __init__(self, dump_root: str, debug_dump_rel_path: str):
        *folders, file = os.path.normpath(debug_dump_rel_path).split(os.sep)
        parts = file.rsplit("_", 3)
        if len(parts) < 4:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {file}")
        node, slot, self._debug_op, self._extended_timestamp = parts
        self._device_name = device_of_folder(folders.pop(0)) if folders else None
        self._node_name, self._output_slot = "/".join([*folders, node]), int(slot)
        # Files of one microsecond have a number behind the time.
        self._timestamp = int(self._extended_timestamp.partition("-")[0])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        self._dump_size_bytes = os.path.getsize(self._file_path) if os.path.exists(self._file_path) else None

    def __str__(self) -> str:
        where = f"({self.device_name}) {self.tensor_name} @ {self.debug_op} @ {self.timestamp}"
        return f"{{{type(self).__name__} {where}}}"

    def __repr__(self) -> str:
        return str(self)

    def get_tensor(self) -> Any:
        """The value, read from the file: see `load_tensor_from_event`."""
        return load_tensor_from_event_file(self._file_path)

    @property
    def timestamp(self) -> int:
        """When the value came up, in microseconds since 1970."""
        return self._timestamp

    @property
    def extended_timestamp(self) -> str:
        """The same as in the file's name."""
        return self._extended_timestamp

    @property
    def debug_op(self) -> str:
        """What was applied to the value."""
        return self._debug_op

    @property
    def device_name(self) -> str | None:
        """Where the node ran."""
        return self._device_name

    @property
    def node_name(self) -> str:
        """The node whose output this is."""
        return self._node_name

    @property
    def output_slot(self) -> int:
        """Which of its outputs."""
        return self._output_slot

    @property
    def tensor_name(self) -> str:
        """`node:slot`."""
        return f"{self._node_name}:{self._output_slot}"

    @property
    def watch_key(self) -> str:
        """`node:slot:debug op`."""
        return f"{self.tensor_name}:{self._debug_op}"

    @property
    def file_path(self) -> str:
        """The file."""
        return self._file_path

    @property
    def dump_size_bytes(self) -> int | None:
        """How long it is; None if there was none when this was made."""
        return self._dump_size_bytes
