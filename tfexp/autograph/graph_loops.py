"""Loops in the graph: the variables of a converted loop as the loop variables of `tf.while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.autograph.alike import LOOP, check_alike
from tfexp.autograph.branches import and_, condition
from tfexp.autograph.directives import LoopOptions
from tfexp.autograph.iteration import Iteration
from tfexp.autograph.jumps import RETURN_VALUE, spoken
from tfexp.autograph.lists import Growing
from tfexp.autograph.variables import UNBOUND, Body, Carried, Opaque, Variables, trial, where
from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where as where_op
from tfexp.ops.check import Assert
from tfexp.ops.comparison import greater, less
from tfexp.ops.tensor_array import TensorArray

Options = Callable[[], Any]
Engine = Callable[[Callable[..., Tensor], Callable[..., list[Any]], list[Any]], Sequence[Any]]


class GraphLoop:
    """A loop in the graph, of which the first `count` of `variables` are the loop variables."""

    def __init__(
        self,
        kind: str,
        variables: Variables,
        count: int,
        again: Sequence[str],
        grown: Sequence[str],
        body: Body,
        options: Options | None,
    ):
        self._kind = kind
        self._variables = variables
        self._names = variables.names[:count]
        self._again = again
        self._grown = grown
        self._body = body
        self._before = variables.get()
        given = None if options is None else options()
        self._options = given if isinstance(given, LoopOptions) else LoopOptions({})

    def while_(self, test: Body) -> None:
        """Iterate while `test()`."""

        def step() -> list[Any]:
            self._body()
            return []

        self._build([], test, step)

    def over_tensor(self, tensor: Tensor, going_on: Body | None) -> None:
        """Iterate over the slices of a tensor along its first dimension, for as long as `going_on()`."""
        counted = _range(tensor) if tensor.op.type == "Range" else _slices(tensor, self._body)

        def test(counter: Tensor) -> Any:
            inside = counted.inside(counter)
            return inside if going_on is None else and_(lambda: inside, going_on)

        def step(counter: Tensor) -> list[Any]:
            self._body(counted.item(counter))
            return [counter + counted.delta]

        self._build([convert_to_tensor(counted.start)], test, step)

    def over(self, iterated: Any, iteration: Iteration, going_on: Body | None) -> None:
        """Go through the items of an object, for as long as `going_on()`."""

        def step(item: Any) -> list[Any]:
            self._body(item)
            return []

        def engine(test: Callable[..., Tensor], body: Callable[..., list[Any]], state: list[Any]) -> Sequence[Any]:
            return iteration.loop(iterated, state, body, None if going_on is None else test)

        self._build([], going_on or (lambda: True), step, engine, lambda: step(iteration.item(iterated)))

    def _build(
        self,
        starts: list[Tensor],
        test: Callable[..., Any],
        step: Callable[..., list[Any]],
        engine: Engine | None = None,
        once: Callable[[], Any] | None = None,
    ) -> None:
        """Build the loop: while `test(*counters)`, `step(*counters)` gives the next counters and changes the variables.

        `engine(test, body, state)` iterates; what it gives `body` before the state, `step` gets. `once()` is an iteration.
        """
        try:
            values = self._before[: len(self._names)]
            unset = [name for name, value in zip(self._names, values, strict=True) if value is UNBOUND]
            if unset or any(map(self._grows, self._names, values)):
                values = self._begun(values, once or (lambda: step(*starts)))
            initial = [Carried(value) for value in values]
            read_after = [name for name in unset if name not in self._again and name != RETURN_VALUE]
            self._loop(initial, starts, test, step, read_after, engine)
        except BaseException:
            self._variables.set(self._before)
            raise

    def _begun(self, values: Sequence[Any], once: Callable[[], Any]) -> list[Any]:
        """The loop variables' values before the loop: something for those that only the loop gives values, lists of the
        graph for lists that it makes longer.
        """
        named = zip(self._names, values, strict=True)
        growing = [Growing(value) if self._grows(name, value) else value for name, value in named]

        def iteration() -> list[Any]:
            self._variables.set([*growing, *self._before[len(values) :]])
            once()
            return self._variables.get()[: len(values)]

        begun = []
        for value, grown, model in zip(values, growing, trial(iteration), strict=True):
            if value is UNBOUND:
                begun.append(model.blank())
            else:
                begun.append(grown.in_graph() if isinstance(grown, Growing) else value)
        return begun

    def _grows(self, name: str, value: Any) -> bool:
        return name in self._grown and isinstance(value, list)

    def _loop(
        self,
        initial: Sequence[Carried],
        starts: Sequence[Tensor],
        test: Callable[..., Any],
        step: Callable[..., list[Any]],
        read_after: Sequence[str],
        engine: Engine | None,
    ) -> None:
        for name, carried in zip(self._names, initial, strict=True):
            if carried.value is UNBOUND:
                raise ValueError(f"{spoken(name)} must be defined before a loop in the graph:\n{where(self._body)}")
        tensors = [tensor for carried in initial for tensor in carried.tensors]
        n = len(starts)
        # Whether there was an iteration, for what has a value only then; a loop has at least one variable.
        begun = [constant(False)] if read_after or not [*starts, *tensors] else []
        state = [*starts, *tensors, *begun]
        last = initial

        def enter(values: Sequence[Any]) -> None:
            self._variables.set([*_filled(initial, values[n : n + len(tensors)]), *self._before[len(self._names) :]])

        def loop_test(*values: Any) -> Tensor:
            enter(values)
            return condition(test(*values[:n]), self._kind)

        def loop_body(*given: Any) -> list[Any]:
            nonlocal last
            items, values = given[: -len(state)], given[-len(state) :]
            enter(values)
            following = step(*items, *values[:n])
            last = [Carried(value) for value in self._variables.get()[: len(self._names)]]
            for name, before, after in zip(self._names, initial, last, strict=True):
                self._check(name, before, after)
            return [*following, *(tensor for carried in last for tensor in carried.tensors), *map(ones_like, begun)]

        if engine is None:
            arguments = {"shape_invariants": self._invariants(initial, starts, begun), **self._options.arguments}
            left = while_loop(loop_test, loop_body, state, return_same_structure=True, **arguments)
        else:
            left = engine(loop_test, loop_body, state)
        if read_after:
            text = f"loop must iterate at least once to initialize {', '.join(read_after)}"
            with control_dependencies([Assert(left[-1], [text])]):
                left = [identity(value) for value in left]
        self._variables.set(_filled(last, left[n:]))

    def _invariants(
        self, initial: Sequence[Carried], starts: Sequence[Tensor], begun: Sequence[Tensor]
    ) -> list[TensorShape] | None:
        """The shape of each loop variable throughout; None: their own."""
        given = self._options.shape_invariants
        if not given:
            return None
        shapes = [start.get_shape() for start in starts]
        for carried in initial:
            named = [shape for value, shape in given if value is carried.value]
            if named:
                shapes += map(as_shape, nest.flatten(named[0]) if nest.is_nested(named[0]) else named)
            else:
                shapes += [tensor.get_shape() for tensor in carried.tensors]
        return shapes + [flag.get_shape() for flag in begun]

    def _check(self, name: str, before: Carried, after: Carried) -> None:
        """TypeError, ValueError unless a variable is after an iteration what it was before."""
        place = where(self._body)
        if after.value is UNBOUND:
            raise ValueError(f"{spoken(name)} has no value after one iteration:\n{place}")
        check_alike(spoken(name), before, after, LOOP, place)
        if self._options.shape_invariants:
            return
        for one, two in zip(before.parts, after.parts, strict=True):
            if not isinstance(one, Opaque | IndexedSlices):
                _check_shape(name, one.get_shape(), two.get_shape(), place)


def _check_shape(name: str, before: TensorShape, after: TensorShape, place: str) -> None:
    general = before.rank is None or (
        before.rank == after.rank
        and all(b is None or a == b for b, a in zip(before.as_list(), after.as_list(), strict=True))
    )
    if not general:
        raise ValueError(
            f"{spoken(name)} has shape {before} before the loop, but shape {after} after one iteration. Use "
            f"tf.autograph.experimental.set_loop_options to set shape invariants.\n{place}"
        )


def _filled(carried: Sequence[Carried], tensors: Sequence[Any]) -> list[Any]:
    rest: Iterator[Any] = iter(tensors)
    return [one.with_tensors(rest) for one in carried]


@dataclass(frozen=True)
class _Counted:
    """A loop by a counter: where it starts, by how much it goes on, while what holds, and the item of a count."""

    start: Any
    delta: Any
    inside: Callable[[Tensor], Tensor]
    item: Callable[[Tensor], Any]


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
