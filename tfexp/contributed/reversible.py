"""Residual layers whose inputs can be computed from their outputs (Gomez et al. 2017).

Source: `tf.contrib.layers.{RevBlock,rev_block}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.scopes import control_dependencies, get_collection
from tfexp.graph.tape import GradientTape
from tfexp.layers.base import Layer
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.variable_scope import get_variable_scope, variable_scope

Function = Callable[..., Any]


class _Half:
    """One function of a layer, in a variable scope of its own, where it finds its variables again later."""

    def __init__(self, function: Function, scope: str):
        self._function, self._scope_name = function, scope
        self._scope: Any = None

    def __call__(self, x: Any, side: Sequence[Any]) -> Any:
        if self._scope is None:
            entered = variable_scope(self._scope_name, use_resource=True)
        else:
            entered = variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
        with entered as self._scope:
            return self._function(x, list(side)) if side else self._function(x)

    def with_gradients(self, x: Any, side: Sequence[Any], variables: Sequence[Any], slope: Any) -> tuple[Any, list[Any]]:
        """(the value, the gradients of `slope` for x, each of `side` and each of the variables)."""
        x, *side = (stop_gradient(given) for given in (x, *side))  # which come of variables themselves
        with GradientTape() as tape:
            tape.watch([x, *side, *variables])
            # Only when the gradient has come, so that nothing of this is computed before and kept.
            with control_dependencies([slope]):
                value = self(x, side)
        return value, tape.gradient(value, [x, *side, *variables], slope)


class RevBlock(Layer):
    """`num_layers` layers y1 = x1 + f(x2), y2 = x2 + g(y1), of which the gradient computes inputs from outputs.

    f, g: functions that keep shapes and may make variables, or a list of one for each layer; they must use no tensors but
    their arguments, the second of which is the list of `f_side_input` or `g_side_input`, if there is one.
    use_efficient_backprop: keep only the outputs of the block for the gradient, rather than those of each layer.
    ValueError for lists of another length. Variables are below `revlayer_N/f` and `revlayer_N/g`.
    """

    def __init__(
        self,
        f: Function | list[Function],
        g: Function | list[Function],
        num_layers: int = 1,
        f_side_input: Sequence[Any] | None = None,
        g_side_input: Sequence[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.f, self.g = _halves(f, "f", num_layers), _halves(g, "g", num_layers)
        self.num_layers = num_layers
        self.f_side_input, self.g_side_input = list(f_side_input or ()), list(g_side_input or ())
        self._is_efficient = use_efficient_backprop

    def forward(self, x1: Any, x2: Any) -> Any:
        """(y1, y2)."""
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """(x1, x2)."""
        return self.apply([y1, y2], forward=False)

    def build(self, _: Any) -> None:
        """The functions make their variables when they are called."""
        self.built = True

    def call(self, inputs: Any, forward: bool = True) -> Any:
        known = len(get_collection(GraphKeys.GLOBAL_VARIABLES))
        result = self._outputs(*inputs) if forward else self._inputs(*inputs)
        trained = {id(variable) for variable in get_collection(GraphKeys.TRAINABLE_VARIABLES)}
        for made in get_collection(GraphKeys.GLOBAL_VARIABLES)[known:]:
            (self._trainable_weights if id(made) in trained else self._non_trainable_weights).append(made)
        return result

    def _outputs(self, x1: Any, x2: Any) -> tuple[Any, Any]:
        if not self._is_efficient:
            return self._through(x1, x2, self.f_side_input, self.g_side_input)
        split = len(self.f_side_input)

        @custom_gradient
        def reversible(x1: Any, x2: Any, *side: Any) -> Any:
            y1, y2 = self._through(x1, x2, side[:split], side[split:])

            def gradient(dy1: Any, dy2: Any, variables: Sequence[Any] | None = None) -> Any:
                found = self._gradients(y1, y2, dy1, dy2, side[:split], side[split:], variables or ())
                return found[: 2 + len(side)] if variables is None else (found[: 2 + len(side)], found[2 + len(side) :])

            return (y1, y2), gradient

        return tuple(reversible(x1, x2, *self.f_side_input, *self.g_side_input))  # type: ignore[return-value]

    def _through(self, x1: Any, x2: Any, f_side: Sequence[Any], g_side: Sequence[Any]) -> tuple[Any, Any]:
        for f, g in zip(self.f, self.g, strict=True):
            x1 = x1 + f(x2, f_side)
            x2 = x2 + g(x1, g_side)
        return x1, x2

    def _inputs(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            y2 = y2 - g(y1, self.g_side_input)
            y1 = y1 - f(y2, self.f_side_input)
        return y1, y2

    def _gradients(
        self,
        y1: Any,
        y2: Any,
        dy1: Any,
        dy2: Any,
        f_side: Sequence[Any],
        g_side: Sequence[Any],
        variables: Sequence[Any],
    ) -> list[Any]:
        """For x1, x2, each of `f_side` and `g_side`, and each variable, from the outputs and the gradients for these."""
        of_f, of_g, of_variables = [None] * len(f_side), [None] * len(g_side), [None] * len(variables)
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            value, (slope, *more) = g.with_gradients(y1, g_side, variables, dy2)
            y2, dy1 = y2 - value, _sum(dy1, slope)
            of_g, of_variables = _sums(of_g, more[: len(g_side)]), _sums(of_variables, more[len(g_side) :])
            value, (slope, *more) = f.with_gradients(y2, f_side, variables, dy1)
            y1, dy2 = y1 - value, _sum(dy2, slope)
            of_f, of_variables = _sums(of_f, more[: len(f_side)]), _sums(of_variables, more[len(f_side) :])
        return [dy1, dy2, *of_f, *of_g, *of_variables]


def _halves(functions: Function | list[Function], letter: str, num_layers: int) -> list[_Half]:
    given = functions if isinstance(functions, list) else [functions] * num_layers
    if len(given) != num_layers:
        raise ValueError(f"{letter} has {len(given)} functions for {num_layers} layers")
    return [_Half(function, f"revlayer_{number}/{letter}") for number, function in enumerate(given)]


def _sum(a: Any, b: Any) -> Any:
    """The sum of gradients, of which None says that there is none."""
    return b if a is None else a if b is None else a + b


def _sums(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [_sum(one, other) for one, other in zip(a, b, strict=True)]


def rev_block(
    x1: Any,
    x2: Any,
    f: Function | list[Function],
    g: Function | list[Function],
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[Any, Any]:
    """(y1, y2) of a `RevBlock`; is_training: whether its gradient computes the inputs from the outputs."""
    reuse = get_variable_scope().reuse
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training, _reuse=reuse)
    y1, y2 = block.forward(x1, x2)
    return y1, y2
