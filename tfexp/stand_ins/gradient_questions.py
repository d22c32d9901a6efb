"""What tests ask `tensorflow.python.ops.custom_gradient` about graphs. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.custom_gradient import variables_between


def get_dependent_variables(input_ops: Sequence[Any], output_ops: Sequence[Any]) -> list[Any]:
    """The variables of the default graph that the outputs come from, other than by way of the inputs."""
    return variables_between(output_ops, input_ops)
