"""What only tests take from `tensorflow.python.eager`'s `backprop`, `function` and `tape`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.functions.function import function
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tape import GradientTape, recording, variable_accessed


def make_vjp(f: Callable[..., Any], params: Any = None, persistent: bool = True) -> Callable[..., Any]:
    """`f`, so that it returns its result and a function: of a weight for the result, the gradients of its arguments.

    params: the numbers of the arguments that count; all without.
    """

    def decorated(*args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
        tensors = [convert_to_tensor(arg) for arg in args]
        sources = [tensors[i] for i in (range(len(args)) if params is None else params)]
        with GradientTape(persistent) as tape:
            tape.watch(sources)
            result = f(*tensors, **kwargs)
        return result, lambda dy=None: tape.gradient(result, sources, output_gradients=dy)

    return decorated


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    attributes: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`defun`; attributes tell TensorFlow's runtime what it may replace the function by, which does not happen here."""
    return function(func, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)


@contextlib.contextmanager
def stop_recording() -> Iterator[None]:
    """A block whose ops no tape records."""
    tapes, recording.tapes = recording.tapes, []
    try:
        yield
    finally:
        recording.tapes = tapes


def could_possibly_record() -> bool:
    """Whether there is a tape that records."""
    return bool(recording.tapes)


def should_record(tensors: Any) -> bool:
    """Whether a tape follows one of the tensors."""
    return any(tensor in tape._watched for tape in recording.tapes for tensor in tensors)


def push_new_tape(persistent: bool = False, watch_accessed_variables: bool = True) -> GradientTape:
    """A tape that records from here on."""
    tape = GradientTape(persistent, watch_accessed_variables)
    push_tape(tape)
    return tape


def push_tape(tape: GradientTape) -> None:
    tape._start()


def pop_tape(tape: GradientTape) -> None:
    tape._stop()


def watch(tape: GradientTape, tensor: Any) -> None:
    tape.watch(tensor)


def watch_variable(tape: GradientTape, variable: Any) -> None:
    tape.watch(variable)


def variables_accessed(variables: Any) -> None:
    """Tell the tapes that these variables were read; those that cannot be trained are not followed."""
    for variable in variables:
        if variable.trainable:
            variable_accessed(variable)
