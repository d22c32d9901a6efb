"""What of `tensorflow.python.debug` is not in `tfexp.debug`: programs name it, and use it behind a flag. Source: TF 1.15."""

from __future__ import annotations

from typing import Any


class _Absent:
    """NotImplementedError when one is made."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            f"tf_debug.{type(self).__name__}: values are dumped to files only. DumpingDebugWrapperSession and "
            "DumpingDebugHook do that, DebugDumpDir reads them, and LocalCLIDebugWrapperSession answers in the terminal"
        )


class GrpcDebugWrapperSession(_Absent):
    """A session that sends all tensors of its runs to a server."""


class TensorBoardDebugWrapperSession(_Absent):
    """A session in whose runs TensorBoard looks."""


class GrpcDebugHook(_Absent):
    """The same for monitored sessions."""


class TensorBoardDebugHook(_Absent):
    """The same for monitored sessions."""
