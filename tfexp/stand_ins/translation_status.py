"""`tensorflow.python.autograph.core.ag_ctx`: whether calls are translated, as programs say. Source: TF 1.15."""

from __future__ import annotations

import enum
import threading


class Status(enum.Enum):
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A block in which `control_status_ctx()` gives this object."""

    def __init__(self, status: Status, options: object = None):
        self.status, self.options = status, options

    def __enter__(self) -> ControlStatusCtx:
        stacks.control_status.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        stacks.control_status.pop()


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.control_status = [ControlStatusCtx(Status.UNSPECIFIED)]


stacks = _Stacks()


def control_status_ctx() -> ControlStatusCtx:
    """The innermost block's."""
    return stacks.control_status[-1]
