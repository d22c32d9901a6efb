"""Functions that are called after each op of eager execution; those that look for infinities and NaN.

Each thread has its own: what one asks for, another is not told.

Source: `tf.contrib.eager.add_execution_callback` and its siblings, TF 1.15.
"""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.log import get_logger
from tfexp.runtime.eager import EagerGraph

_log = get_logger()


class ExecutionCallback(enum.Enum):
    """What becomes of infinities and NaN that are found."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """A result of an eager op has infinities or NaN."""

    def __init__(self, op_type: str, op_name: str, output_index: int, num_outputs: int, value: np.ndarray):
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs, self.value = output_index, num_outputs, value
        counts = {"inf": int(np.isinf(value).sum()), "nan": int(np.isnan(value).sum())}
        found = " and ".join(f"{count} {kind}(s)" for kind, count in counts.items() if count)
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: {op_name!r}) contains {found} "
            f"out of a total of {np.size(value)} element(s). Tensor value: {value}"
        )


def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Call `callback(op_type, inputs, attrs, outputs, name)` after each op; attrs are (name, value, name, value …)."""
    EagerGraph.callbacks.here.append(callback)


def clear_execution_callbacks() -> None:
    """Call none of them any more."""
    EagerGraph.callbacks.here.clear()


def inf_nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str,
    check_inf: bool = True,
    check_nan: bool = True,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """A callback that looks for infinities and NaN among the results. ValueError for an action that there is not."""
    chosen = ExecutionCallback(action)
    for place, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        if (check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any()):
            _act(chosen, InfOrNanError(op_type, op_name, place, len(outputs), value))


def _act(action: ExecutionCallback, error: InfOrNanError) -> None:
    if action is ExecutionCallback.RAISE:
        raise error
    if action is ExecutionCallback.WARN:
        _log.warning("%s", error)
    elif action is ExecutionCallback.PRINT:
        print(f"Warning: {error}")


def inf_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for infinities alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for NaN alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def seterr(inf_or_nan: ExecutionCallback | str | None = None) -> dict[str, ExecutionCallback]:
    """Say what becomes of infinities and NaN, None: as before. Returns {"inf_or_nan": what did}. ValueError for others."""
    chosen = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    before: Any = next((one for one in EagerGraph.callbacks.here if _is_of_seterr(one)), None)
    if chosen is not None:
        EagerGraph.callbacks.here[:] = [one for one in EagerGraph.callbacks.here if not _is_of_seterr(one)]
        if chosen is not ExecutionCallback.IGNORE:
            add_execution_callback(functools.partial(inf_nan_callback, action=chosen))
    return {"inf_or_nan": ExecutionCallback.IGNORE if before is None else before.keywords["action"]}


def _is_of_seterr(callback: Any) -> bool:
    return isinstance(callback, functools.partial) and callback.func is inf_nan_callback


@contextlib.contextmanager
def errstate(inf_or_nan: ExecutionCallback | str | None = None) -> Iterator[None]:
    """A block in which that becomes of infinities and NaN."""
    before = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
