"""`tensorflow.python.debug`: what programs import of TensorFlow's debugger. Source: TF 1.15.

Programs import it at their top and use it behind a flag. There is no debugger here: whoever asks for it is told what shows
the values of a step instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has an infinity or a NaN in it: a filter of tensors. What is not of floats has none."""
    values = np.asarray(tensor) if isinstance(tensor, (np.ndarray, np.generic, float, list)) else None
    if values is None or values.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(values).all())


class _Absent:
    """What the debugger consists of. NotImplementedError when one is made."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            f"tf_debug.{type(self).__name__}: tfexp has no tfdbg. `tf.add_check_numerics_ops()` names the op that makes the "
            "first NaN, `tf.Print` shows values, and a `tf.train.SessionRunHook` may fetch any tensor of a step by its name"
        )


class LocalCLIDebugWrapperSession(_Absent):
    """A session in whose runs the command line looks."""


class DumpingDebugWrapperSession(_Absent):
    """A session that writes all tensors of its runs to files."""


class GrpcDebugWrapperSession(_Absent):
    """A session that sends all tensors of its runs to a server."""


class TensorBoardDebugWrapperSession(_Absent):
    """A session in whose runs TensorBoard looks."""


class LocalCLIDebugHook(_Absent):
    """The same for monitored sessions."""


class DumpingDebugHook(_Absent):
    """The same for monitored sessions."""


class GrpcDebugHook(_Absent):
    """The same for monitored sessions."""


class TensorBoardDebugHook(_Absent):
    """The same for monitored sessions."""


class DebugDumpDir(_Absent):
    """The tensors in such files."""


class WatchOptions(_Absent):
    """What is written of which ops."""
