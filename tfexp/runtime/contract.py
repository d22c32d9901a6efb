"""What a kernel promises (`core.kernel`), checked on its first result: a breach would go wrong silently later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InternalError, OpError
from tfexp.core.kernel import DEAD, Ref
from tfexp.plan.plan import Plan, Slot, Step


def check_outputs(plan: Plan, step: Step, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """InternalError when count, type, dtype, shape or sharing of the outputs is not as the op's entry says."""
    if len(outputs) != len(step.outputs):
        raise _breach(step, f"gave {len(outputs)} outputs, not {len(step.outputs)}")
    for position, (value, index) in enumerate(zip(outputs, step.outputs, strict=True)):
        problem = None if value is DEAD else _problem(plan.slots[index], value)
        if problem is not None:
            raise _breach(step, f"gave {problem} for output {position}")
        views = step.kernel.view or (step.call is not None and step.call.view)
        if not views and _shares(value, inputs):
            raise _breach(step, f"gave a view of an input for output {position} but does not say view=True")


def _breach(step: Step, what: str) -> OpError:
    return InternalError(None, None, f"The kernel of {step.op.name} {what}")


def _problem(slot: Slot, value: Any) -> str | None:
    base = slot.dtype.base_dtype
    if base in (dtypes.resource, dtypes.variant):
        return None
    if slot.dtype._is_ref_dtype:
        # String references are the handles of queues and tables.
        return None if isinstance(value, Ref) or base is dtypes.string else f"a {type(value).__name__}, not a Ref"
    if not isinstance(value, (np.ndarray, np.generic)):
        return f"a {type(value).__name__}, not an array"
    if value.dtype != base.as_numpy_dtype:
        return f"{value.dtype}, not {base.name}"
    if not slot.shape.is_compatible_with(value.shape):
        return f"shape {value.shape}, where the shape rule, or set_shape, says {slot.shape},"
    return None


def _shares(value: Any, inputs: Sequence[Any]) -> bool:
    return isinstance(value, np.ndarray) and any(
        isinstance(other, np.ndarray) and np.may_share_memory(value, other) for other in inputs
    )
