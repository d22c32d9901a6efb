"""The gradient of a function of the library, as a function: what a `SymbolicGradient` node calls."""

from __future__ import annotations

from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.gradients import gradients


def gradient_of(function: Function) -> Function:
    """The function of `function`'s inputs and its outputs' gradients that gives its inputs' gradients (zeros for None)."""
    if function.gradient_name is not None:
        return function._library[function.gradient_name]
    # A body of its own: the nodes of the gradient are not for those that only call the function.
    forward = Function.from_definition(function.definition, function._library)
    with forward.body.as_default():
        placeholder = get_op("Placeholder")
        weights = [
            placeholder(dtype=t.dtype, shape=t.shape, name=f"gradient_of_output_{i}") for i, t in enumerate(forward.outputs)
        ]
        found = gradients(forward.outputs, forward.inputs, weights)
        results = [
            get_op("ZerosLike")(x) if g is None else convert_to_tensor(g) for x, g in zip(forward.inputs, found, strict=True)
        ]
    return Function(f"{function.name}_gradient", forward.body, [*forward.inputs, *weights], results)
