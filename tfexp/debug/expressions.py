"""Expressions of Python over dumped values: np.matmul(`a:0`, `b:0[1]`.T). Source: `debug.cli.evaluator` of TF 1.15.

Between backticks stands `node:slot`, with a device and a colon before it, or a colon and a debug op (DebugIdentity by
default) and which of its values ([0] by default) behind it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tfexp.debug.dump_dir import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError

_QUOTED = re.compile(r"`(.*?)`")
_NAME = re.compile(
    r"((?P<device>/job:[^:/]+/replica:\d+/task:\d+/(device:)?\w+:\d+):)?"
    r"(?P<node>[^:\[\]]+):(?P<slot>\d+)(:(?P<op>[^:\[\]]+))?(\[(?P<time>\d+)\])?"
)


def _parse_debug_tensor_name(debug_tensor_name: str) -> tuple[str | None, str, int, str, int]:
    """(device, node, slot, debug op, time) of such a name. ValueError for others."""
    found = _NAME.fullmatch(debug_tensor_name.strip())
    if found is None:
        raise ValueError(f"The debug tensor name in the to-be-evaluated expression is malformed: '{debug_tensor_name}'")
    return found["device"], found["node"], int(found["slot"]), found["op"] or "DebugIdentity", int(found["time"] or 0)


class ExpressionEvaluator:
    """Evaluates expressions about a dump; what a name stands for is read once."""

    def __init__(self, dump: DebugDumpDir):
        self._dump = dump
        self._values: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which has `np`.

        ValueError for malformed names and for what was not dumped; else whatever the expression raises.
        """
        names = {name: f"_value_{place}" for place, name in enumerate(dict.fromkeys(_QUOTED.findall(expression)))}
        code = compile(_QUOTED.sub(lambda found: names[found[1]], expression).strip(), "<expression>", "eval")
        for name in names.keys() - self._values.keys():
            self._values[name] = self._read(name)
        return eval(code, {"np": np, "numpy": np, **{ours: self._values[name] for name, ours in names.items()}})

    def _read(self, name: str) -> Any:
        device, node, slot, debug_op, time = _parse_debug_tensor_name(name)
        try:
            values = self._dump.get_tensors(node, slot, debug_op, device_name=device)
        except WatchKeyDoesNotExistInDebugDumpDirError as error:
            raise ValueError(f"Eval failed due to the value of {node}:{slot}:{debug_op} being unavailable") from error
        if time >= len(values):
            raise ValueError(f"{name}: there are values 0 to {len(values) - 1} of {node}:{slot}:{debug_op}")
        return values[time]
