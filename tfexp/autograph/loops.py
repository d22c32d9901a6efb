"""Loops: Python's own over Python's values, `tf.while_loop` where the condition or what is iterated over is a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.autograph.branches import and_, condition
from tfexp.autograph.directives import LoopOptions
from tfexp.autograph.jumps import RETURN_VALUE
from tfexp.autograph.variables import UNBOUND, Body, Carried, Opaque, Variables, is_symbolic, trial, where
from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where as where_op
from tfexp.ops.check import Assert
from tfexp.ops.comparison import greater, less
from tfexp.ops.tensor_array import TensorArray

_UNCHANGING = "A loop is Python's or the graph's throughout: let what it depends on be a tensor before it, or never."


Options = Callable[[], Any]


def while_(
    test: Body,
    body: Body,
    live: Sequence[str],
    others: Sequence[str],
    again: Sequence[str],
    options: Options | None = None,
) -> None:
    """`while test(): body()`.

    Of the variables that they change, `live` are read in the next iteration or after the loop, those of these in `again`
    only in the next iteration, `others` not at all.
    """
    value = _before_loop(test)
    if is_symbolic(value):
        loop = _GraphLoop("while loop", Variables((test, body), [*live, *others]), len(live), again, body, options)
        loop.build([], test, lambda: (body(), [])[1])
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


def for_(
    iterated: Any,
    body: Body,
    live: Sequence[str],
    others: Sequence[str],
    again: Sequence[str],
    going_on: Body | None = None,
    options: Options | None = None,
) -> None:
    """`for item in iterated: body(item)`, for as long as `going_on()`; the variables are as for `while_`."""
    if is_symbolic(iterated):
        bodies = (body,) if going_on is None else (body, going_on)
        loop = _GraphLoop("for loop", Variables(bodies, [*live, *others]), len(live), again, body, options)
        tensor: Tensor = convert_to_tensor(iterated)
        over = _range(tensor) if tensor.op.type == "Range" else _slices(tensor, body)
        _count(loop, over, body, going_on)
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


@dataclass(frozen=True)
class _Counted:
    """A loop by a counter: where it starts, by how much it goes on, while what holds, and the item of a count."""

    start: Any
    delta: Any
    inside: Callable[[Tensor], Tensor]
    item: Callable[[Tensor], Any]


def _count(loop: _GraphLoop, over: _Counted, body: Body, going_on: Body | None) -> None:
    def test(counter: Tensor) -> Any:
        inside = over.inside(counter)
        return inside if going_on is None else and_(lambda: inside, going_on)

    def step(counter: Tensor) -> list[Any]:
        body(over.item(counter))
        return [counter + over.delta]

    loop.build([over.start], test, step)


def _range(tensor: Tensor) -> _Counted:
    """The numbers of a `tf.range`, without making them."""
    start, limit, delta = tensor.op.inputs
    step = constant_value(delta)
    if step is None:
        inside: Callable[[Tensor], Tensor] = lambda i: where_op(greater(delta, 0), less(i, limit), greater(i, limit))  # noqa: E731
    else:
        compared = less if step > 0 else greater
        inside = lambda i: compared(i, limit)  # noqa: E731
    return _Counted(start, delta, inside, lambda i: i)


def _slices(tensor: Tensor, body: Body) -> _Counted:
    """The slices of a tensor along its first dimension."""
    rank = tensor.get_shape().rank
    if rank == 0:
        raise ValueError(f"A scalar cannot be iterated over: {tensor}\n{where(body)}")
    static = None if rank is None else tensor.get_shape().as_list()[0]
    size = shape(tensor)[0] if static is None else constant(static)
    array = TensorArray(tensor.dtype.base_dtype, size=size, element_shape=tensor.get_shape()[1:]).unstack(tensor)
    return _Counted(constant(0), 1, lambda i: less(i, size), array.read)


class _GraphLoop:
    """A loop in the graph, of which the first `count` of `variables` are the loop variables."""

    def __init__(
        self, kind: str, variables: Variables, count: int, again: Sequence[str], body: Body, options: Options | None
    ):
        self._kind = kind
        self._variables = variables
        self._names = variables.names[:count]
        self._again = again
        self._body = body
        self._before = variables.get()
        given = None if options is None else options()
        self._options = given if isinstance(given, LoopOptions) else LoopOptions({})

    def build(self, counters: list[Any], test: Callable[..., Any], step: Callable[..., list[Any]]) -> None:
        """Build the loop: while `test(*counters)`, `step(*counters)` gives the next counters and changes the variables."""
        starts = [convert_to_tensor(counter) for counter in counters]
        try:
            unset = [name for name, value in zip(self._names, self._before, strict=False) if value is UNBOUND]
            initial = [
                Carried(value) for value in (self._begun(starts, step) if unset else self._before[: len(self._names)])
            ]
            read_after = [name for name in unset if name not in self._again and name != RETURN_VALUE]
            self._loop(initial, starts, test, step, read_after)
        except BaseException:
            self._variables.set(self._before)
            raise

    def _begun(self, starts: Sequence[Tensor], step: Callable[..., list[Any]]) -> list[Any]:
        """The loop variables' values before the loop; something for those that only the loop gives values."""

        def iteration() -> list[Any]:
            step(*starts)
            return self._variables.get()[: len(self._names)]

        values: list[Any] = []
        for name, value, model in zip(self._names, self._before, trial(iteration), strict=False):
            values.append(model.blank() if value is UNBOUND else value)
            if values[-1] is UNBOUND:
                raise ValueError(f"{name!r} must be defined before a loop in the graph:\n{where(self._body)}")
        return values

    def _loop(
        self,
        initial: Sequence[Carried],
        starts: Sequence[Tensor],
        test: Callable[..., Any],
        step: Callable[..., list[Any]],
        read_after: Sequence[str],
    ) -> None:
        tensors = [tensor for carried in initial for tensor in carried.tensors]
        n = len(starts)
        # Whether there was an iteration, for what has a value only then; a loop has at least one variable.
        begun = [constant(False)] if read_after or not [*starts, *tensors] else []
        last: list[Carried] = []

        def enter(values: Sequence[Any]) -> None:
            self._variables.set([*_filled(initial, values[n : n + len(tensors)]), *self._before[len(self._names) :]])

        def loop_test(*values: Any) -> Tensor:
            enter(values)
            return condition(test(*values[:n]), self._kind)

        def loop_body(*values: Any) -> list[Any]:
            enter(values)
            following = step(*values[:n])
            last[:] = [Carried(value) for value in self._variables.get()[: len(self._names)]]
            for name, before, after in zip(self._names, initial, last, strict=True):
                self._check(name, before, after)
            return [*following, *(tensor for carried in last for tensor in carried.tensors), *map(ones_like, begun)]

        invariants = self._invariants(initial)
        if invariants is not None:
            invariants = [*(start.get_shape() for start in starts), *invariants, *(TensorShape([]) for _ in begun)]
        variables = [*starts, *tensors, *begun]
        arguments = {"shape_invariants": invariants, "return_same_structure": True, **self._options.arguments}
        left = while_loop(loop_test, loop_body, variables, **arguments)
        if read_after:
            text = f"loop must iterate at least once to initialize {', '.join(read_after)}"
            with control_dependencies([Assert(left[-1], [text])]):
                left = [identity(value) for value in left]
        self._variables.set(_filled(last, left[n:]))

    def _invariants(self, initial: Sequence[Carried]) -> list[TensorShape] | None:
        """The shape of each loop variable throughout; None: their own."""
        given = self._options.shape_invariants
        if not given:
            return None
        shapes = []
        for carried in initial:
            named = next((shape for value, shape in given if value is carried.value), None)
            if named is None:
                shapes += [tensor.get_shape() for tensor in carried.tensors]
            else:
                shapes += [as_shape(shape) for shape in nest.flatten(named)] if nest.is_nested(named) else [as_shape(named)]
        return shapes

    def _check(self, name: str, before: Carried, after: Carried) -> None:
        """TypeError, ValueError unless a variable is after an iteration what it was before."""
        place = where(self._body)
        if after.value is UNBOUND:
            raise ValueError(f"{name!r} has no value after one iteration:\n{place}")
        try:
            nest.assert_same_structure(before.value, after.value, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{name!r} does not have the same nested structure before the loop, {before.value!r}, and after one "
                f"iteration, {after.value!r}:\n{place}\n{error}"
            ) from None
        for one, two in zip(before.parts, after.parts, strict=True):
            if isinstance(one, Opaque) or isinstance(two, Opaque):
                if not (isinstance(one, Opaque) and isinstance(two, Opaque) and one.value is two.value):
                    raise TypeError(
                        f"{name!r} must be a tensor, or stay the same object, in a loop in the graph, but is "
                        f"{before.value!r} before the loop and {after.value!r} after one iteration:\n{place}"
                    )
            elif one.dtype.base_dtype is not two.dtype.base_dtype:
                raise TypeError(
                    f"{name!r} has dtype {one.dtype.base_dtype.name} before the loop, but dtype "
                    f"{two.dtype.base_dtype.name} after one iteration:\n{place}"
                )
            elif not self._options.shape_invariants and not isinstance(one, IndexedSlices):
                _check_shape(name, one.get_shape(), two.get_shape(), place)


def _check_shape(name: str, before: TensorShape, after: TensorShape, place: str) -> None:
    general = before.rank is None or (
        before.rank == after.rank
        and all(b is None or a == b for b, a in zip(before.as_list(), after.as_list(), strict=True))
    )
    if not general:
        raise ValueError(
            f"{name!r} has shape {before} before the loop, but shape {after} after one iteration. Use "
            f"tf.autograph.experimental.set_loop_options to set shape invariants.\n{place}"
        )


def _filled(carried: Sequence[Carried], tensors: Sequence[Any]) -> list[Any]:
    rest: Iterator[Any] = iter(tensors)
    return [one.with_tensors(rest) for one in carried]
