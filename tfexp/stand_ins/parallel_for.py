"""`tensorflow.python.ops.parallel_for`: loops whose turns do not depend on each other, and Jacobians. Source: TF 1.15."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.core.dtypes import int32
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.gradients import gradients
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape, shape
from tfexp.ops.array_fill import range
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import transpose
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.functional import map_fn
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.vectorized_map import vectorized_map
from tfexp.runtime.testing import TestCase


class _Asked(Exception):  # noqa: N818  a signal, not an error
    """A loop's function needs what is reduced over all turns: the value of one of them, and how these are reduced."""

    def __init__(self, value: Tensor, reduction: Callable[[Tensor], Tensor]):
        super().__init__("a reduction over all turns")
        self.value, self.reduction = value, reduction


class PForConfig:
    """What a loop's function is given as `pfor_config`, to reduce values over all turns of the loop."""

    def __init__(self) -> None:
        self._known: list[Tensor] = []
        self._asked = 0

    def reduce_concat(self, x: Any) -> Tensor:
        """The values of all turns, stacked."""
        return self._reduced(x, identity)

    def reduce_mean(self, x: Any) -> Tensor:
        return self._reduced(x, lambda values: reduce_mean(values, axis=0))

    def reduce_sum(self, x: Any) -> Tensor:
        return self._reduced(x, lambda values: reduce_sum(values, axis=0))

    def _reduced(self, x: Any, reduction: Callable[[Tensor], Tensor]) -> Tensor:
        if self._asked == len(self._known):
            raise _Asked(convert_to_tensor(x), reduction)
        self._asked += 1
        return self._known[self._asked - 1]

    def run(self, loop_fn: Callable[..., Any], turns: Tensor) -> Any:
        """Each reduction needs a loop of its own before it, up to the value that is reduced."""
        found: list[Callable[[Tensor], Tensor]] = []

        def turn(i: Tensor) -> Any:
            self._asked = 0
            found.clear()
            try:
                return loop_fn(i, pfor_config=self)
            except _Asked as asked:
                found.append(asked.reduction)
                return asked.value

        while True:
            result = vectorized_map(turn, turns)
            if not found:
                return result
            self._known.append(found[0](result))


def pfor(loop_fn: Callable[..., Any], iters: Any, parallel_iterations: int | None = None) -> Any:
    """What `loop_fn(i)` gives for i in [0, iters), stacked; computed for all i at once where that can be.

    A `loop_fn` with an argument `pfor_config` is given a `PForConfig`. ValueError for `parallel_iterations` below 2.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError("parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if "pfor_config" in inspect.signature(loop_fn).parameters:
        return PForConfig().run(loop_fn, range(iters))
    return vectorized_map(loop_fn, range(iters))


def for_loop(
    loop_fn: Callable[[Tensor], Any], loop_fn_dtypes: Any, iters: Any, parallel_iterations: int | None = None
) -> Any:
    """What `loop_fn(i)`, of the types `loop_fn_dtypes`, gives for i in [0, iters), stacked; computed one by one."""
    return map_fn(loop_fn, range(iters), dtype=loop_fn_dtypes, parallel_iterations=parallel_iterations)


def jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """d output / d input of shape output.shape + input.shape, in the structure of `inputs`; None where unconnected."""
    output, sources = convert_to_tensor(output), nest.flatten(inputs)
    sizes, flat = shape(output), reshape(output, [-1])
    connected = [source for source, grad in zip(sources, gradients(output, sources), strict=True) if grad is not None]
    rows = _rows(flat, 0, connected, parallel_iterations)
    found = {id(source): _shaped(row, sizes, output, source) for source, row in zip(connected, rows, strict=True)}
    return nest.pack_sequence_as(inputs, [found.get(id(source)) for source in sources])


def _rows(flat: Tensor, axis: int, sources: list[Any], parallel_iterations: int | None) -> Any:
    """For each source, the gradients of the parts of `flat` along the axis, stacked.

    A loop's gradient cannot be taken within another loop: then each part has gradients of its own, as far as it is known
    how many there are.
    """
    count = flat.shape[axis].value
    if count is not None and any(op.type == "Exit" for op in _before(flat.op)):
        parts = [gradients(gather(flat, i, axis=axis), sources) for i in builtins.range(count)]
        return [stack(rows) for rows in zip(*parts, strict=True)]
    return map_fn(
        lambda i: gradients(gather(flat, i, axis=axis), sources),
        range(shape(flat)[axis]),
        dtype=[source.dtype.base_dtype for source in sources],
        parallel_iterations=parallel_iterations,
    )


def _before(op: Operation) -> set[Operation]:
    """The operations that an operation needs, itself among them."""
    found, coming = {op}, [op]
    while coming:
        new = {tensor.op for tensor in coming.pop().inputs} - found
        found |= new
        coming.extend(new)
    return found


def _shaped(rows: Tensor, sizes: Tensor, output: Tensor, source: Any) -> Tensor:
    result: Tensor = reshape(rows, concat([sizes, shape(rows)[1:]], 0))
    result.set_shape(output.shape.concatenate(source.shape))
    return result


def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Tensor | None:
    """d output[b] / d inp[b]: [batch, *output.shape[1:], *inp.shape[1:]]; None if unconnected.

    ValueError where the first dimensions differ, InvalidArgumentError where only the run knows them.
    """
    output, inp = convert_to_tensor(output), convert_to_tensor(inp)
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match.")
    if gradients(output, inp)[0] is None:
        return None
    known = output.shape[:1].is_fully_defined() and inp.shape[:1].is_fully_defined()
    with control_dependencies([] if known else [assert_equal(shape(output)[0], shape(inp)[0])]):  # type: ignore[index]
        sizes = identity(shape(output))
    flat = reshape(output, concat([sizes[:1], [-1]], 0))  # type: ignore[index]
    (columns,) = _rows(flat, 1, [inp], parallel_iterations)
    batches = transpose(columns, concat([[1, 0], range(2, rank(columns))], 0))
    result: Tensor = reshape(batches, concat([sizes, shape(inp)[1:]], 0))
    result.set_shape(output.shape.concatenate(inp.shape[1:]))
    return result


class PForTestCase(TestCase):
    """Compares `pfor` with `for_loop`."""

    def run_and_assert_equal(self, targets1: Any, targets2: Any) -> None:
        first, second = self.evaluate([nest.flatten(targets1), nest.flatten(targets2)])
        assert len(first) == len(second), f"{len(first)} results of the one, {len(second)} of the other"
        for a, b in zip(first, second, strict=True):
            self.assertAllClose(a, b, rtol=1e-4, atol=1e-5)

    def _test_loop_fn(
        self, loop_fn: Callable[[Tensor], Any], iters: Any, loop_fn_dtypes: Any = int32, parallel_iterations: Any = None
    ) -> None:
        self.run_and_assert_equal(
            pfor(loop_fn, iters, parallel_iterations), for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations)
        )
