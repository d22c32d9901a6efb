"""Loops: Python's own over Python's values, `tf.while_loop` where the condition or what is iterated over is a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.autograph.graph_loops import GraphLoop, Options
from tfexp.autograph.iteration import iteration_over
from tfexp.autograph.tracebacks import shows_program
from tfexp.autograph.variables import Body, Variables, is_symbolic, where
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import executing_eagerly, get_default_graph

_UNCHANGING = "A loop is Python's or the graph's throughout: let what it depends on be a tensor before it, or never."


@shows_program
def while_(
    test: Body,
    body: Body,
    live: Sequence[str],
    others: Sequence[str],
    again: Sequence[str],
    grown: Sequence[str] = (),
    options: Options | None = None,
) -> None:
    """`while test(): body()`.

    Of the variables that they change, `live` are read in the next iteration or after the loop, those of these in `again`
    only in the next iteration, `others` not at all. Those in `grown` are lists, which get longer.
    """
    value = _before_loop(test)
    if is_symbolic(value):
        loop = GraphLoop("while loop", Variables((test, body), [*live, *others]), len(live), again, grown, body, options)
        loop.while_(test)
        return
    while value:
        body()
        value = test()
        if is_symbolic(value):
            raise NotImplementedError(
                f"The condition of a while loop was a Python value first, and is a tensor now:\n{where(body)}\n{_UNCHANGING}"
            )


def _before_loop(test: Body) -> Any:
    """The value of a loop's test before the loop; where the loop is going to make the nodes of it, none are made."""
    if executing_eagerly():
        return test()
    scratch = FunctionGraph("loop_test", get_default_graph())
    with scratch.as_default():
        value = test()
    # A Python value that it took nodes to compute is computed again, for these have to stay.
    return value if is_symbolic(value) or not scratch.get_operations() else test()


@shows_program
def for_(
    iterated: Any,
    body: Body,
    live: Sequence[str],
    others: Sequence[str],
    again: Sequence[str],
    grown: Sequence[str] = (),
    going_on: Body | None = None,
    options: Options | None = None,
) -> None:
    """`for item in iterated: body(item)`, for as long as `going_on()`; the variables are as for `while_`."""
    iteration = None if executing_eagerly() else iteration_over(iterated)
    if is_symbolic(iterated) or iteration is not None:
        bodies = (body,) if going_on is None else (body, going_on)
        loop = GraphLoop("for loop", Variables(bodies, [*live, *others]), len(live), again, grown, body, options)
        if iteration is None:
            loop.over_tensor(convert_to_tensor(iterated), going_on)
        else:
            loop.over(iterated, iteration, going_on)
        return
    for item in iterated:
        body(item)
        goes_on = True if going_on is None else going_on()
        if is_symbolic(goes_on):
            raise NotImplementedError(
                "A `break` or `return` that depends on a tensor cannot leave a Python for loop:\n"
                f"{where(body)}\nIterate over a tensor (`tf.range`, `tf.constant`) for a loop in the graph."
            )
        if not goes_on:
            break
