"""Which of two values of a watched quantity is the better one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import log


def comparison(callback: str, monitor: str, mode: str, also_max: tuple[str, ...] = ()) -> Callable[[Any, Any], Any]:
    """`np.less` or `np.greater`: by `mode` 'min' or 'max', or by the name of what is watched for 'auto'.

    also_max: beginnings of names, beside those with `acc` in them, that stand for more being better. A mode of another
    name is 'auto', with a warning.
    """
    if mode not in {"auto", "min", "max"}:
        log.warn("%s mode %s is unknown, fallback to auto mode.", callback, mode)
        mode = "auto"
    if mode == "auto":
        mode = "max" if "acc" in monitor or monitor.startswith(also_max or ("\0",)) else "min"
    return np.less if mode == "min" else np.greater


def worst(better: Callable[[Any, Any], Any]) -> float:
    """What every number is better than."""
    return np.inf if better is np.less else -np.inf
