"""What an operator is made of, kept: variables as they are, so that tapes and later assignments see them. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.variable_base import Variable


def kept(value: Any, name: str) -> Any:
    """A variable as it is, anything else as a tensor."""
    return value if isinstance(value, Variable) else convert_to_tensor(value, name=name)
