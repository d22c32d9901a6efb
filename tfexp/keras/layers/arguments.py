"""What a layer's `call` takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether the function has a parameter of that name of its own."""
    return name in inspect.signature(function).parameters
