"""Fake quantisation put behind a tensor, between limits that are variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tfexp.contributed.graph_editor.wiring import reroute_ts
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array_identity import identity
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.fake_quant import vars_op
from tfexp.ops.initializers import constant_initializer, zeros_initializer
from tfexp.ops.reduce import reduce_max, reduce_min
from tfexp.ops.variable_scope import get_variable, variable_scope
from tfexp.train.moving_averages import assign_moving_average

_DECAY = 0.999
_STEP = "fake_quantization_step"


@dataclass(frozen=True)
class Quantisation:
    """How numbers are quantised: bits of weights and activations, whether limits are learned and after how many steps."""

    is_training: bool
    weight_bits: int = 8
    activation_bits: int = 8
    symmetric: bool = False
    delay: int | None = 0

    def weights(self, values: Tensor, name: str, consumers: Iterable[Operation]) -> tuple[Operation, ...]:
        """Quantise weights, with the limits of each step's, so that no value is the lowest of all levels."""
        limits = self._limits(self.weight_bits, narrow=True)
        return self._insert(
            values, name, consumers, lambda: limits(values, (-6.0, 6.0), _last), self.weight_bits, narrow=True
        )

    def activations(
        self, values: Tensor, name: str, consumers: Iterable[Operation], initial: tuple[float, float] = (-6.0, 6.0)
    ) -> tuple[Operation, ...]:
        """Quantise activations, with moving averages of the limits of steps."""
        limits = self._limits(self.activation_bits, narrow=False)
        return self._insert(
            values, name, consumers, lambda: limits(values, initial, _averaged), self.activation_bits, narrow=False
        )

    def _insert(
        self,
        values: Tensor,
        name: str,
        consumers: Iterable[Operation],
        make_limits: Callable[[], tuple[Any, Any]],
        bits: int,
        narrow: bool,
    ) -> tuple[Operation, ...]:
        """The nodes with the quantised values, the last of which `consumers` take in from then on."""
        consumers = list(consumers)
        now = step(values.graph) if self.delay else None
        with name_scope(None), variable_scope(None, default_name=name, values=[values]):
            low, high = make_limits()
            quantised = vars_op(values, low, high, num_bits=bits, narrow_range=narrow)
            result = quantised
            if now is not None:
                is_on = greater_equal(now, self.delay, name="activate_quant")
                result = cond(is_on, lambda: quantised, lambda: values, name="delayed_quant")
        if consumers:
            reroute_ts(result, values, can_modify=consumers)
        return quantised.op, result.op

    def _limits(self, bits: int, narrow: bool) -> Callable[..., tuple[Any, Any]]:
        def limits(values: Tensor, initial: tuple[float, float], kept: Callable[..., Any]) -> tuple[Any, Any]:
            low, high = (
                get_variable(label, [], dtypes.float32, constant_initializer(start), trainable=False)
                for label, start in zip(("min", "max"), initial, strict=True)
            )
            if not self.is_training:
                return low, high
            lowest, highest = reduce_min(values, name="BatchMin"), reduce_max(values, name="BatchMax")
            if self.symmetric:
                # Without the lowest level both sides have as many; else the negative side has one more.
                ratio = -1.0 if narrow else -((1 << bits) - 2) / (1 << bits)
                lowest, highest = minimum(lowest, highest / ratio), maximum(highest, lowest * ratio)
            else:
                # 0 has to be a level: padding is made of it.
                lowest, highest = minimum(lowest, 0.0), maximum(highest, 0.0)
            return kept(low, lowest, "AssignMin"), kept(high, highest, "AssignMax")

        return limits


def _last(variable: Any, value: Tensor, name: str) -> Any:
    return state.assign(variable, value, name=f"{name}Last")


def _averaged(variable: Any, value: Tensor, name: str) -> Any:
    return assign_moving_average(variable, value, _DECAY, name=f"{name}Ema")


def step(graph: Graph) -> Tensor:
    """The number of the step, counted by a variable of its own: each graph has one."""
    counted = next((op for op in graph.get_operations() if op.name == f"{_STEP}/Identity"), None)
    if counted is not None:
        return counted.outputs[0]
    with name_scope(None), variable_scope(_STEP):
        count = get_variable("", [], dtypes.int64, zeros_initializer(), trainable=False)
        read: Tensor = identity(state.assign_add(count, 1))
        return read
