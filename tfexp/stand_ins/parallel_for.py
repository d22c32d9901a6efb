"""`tensorflow.python.ops.parallel_for`: loops whose turns do not depend on each other, and Jacobians. Source: TF 1.15."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.core.dtypes import int32
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.gradients import gradients
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import range
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.functional import map_fn
from tfexp.ops.vectorized_map import vectorized_map
from tfexp.runtime.testing import TestCase


def pfor(loop_fn: Callable[[Tensor], Any], iters: Any, parallel_iterations: int | None = None) -> Any:
    """What `loop_fn(i)` gives for i in [0, iters), stacked; computed for all i at once where that can be."""
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
    rows = map_fn(
        lambda i: gradients(gather(flat, i), connected),
        range(shape(flat)[0]),
        dtype=[source.dtype.base_dtype for source in connected],
        parallel_iterations=parallel_iterations,
    )
    found = {id(source): _shaped(row, sizes, output, source) for source, row in zip(connected, rows, strict=True)}
    return nest.pack_sequence_as(inputs, [found.get(id(source)) for source in sources])


def _shaped(rows: Tensor, sizes: Tensor, output: Tensor, source: Any) -> Tensor:
    result: Tensor = reshape(rows, concat([sizes, shape(rows)[1:]], 0))
    result.set_shape(output.shape.concatenate(source.shape))
    return result


def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Tensor | None:
    """d output[b] / d inp[b]: [batch, *output.shape[1:], *inp.shape[1:]]; None if unconnected.

    ValueError where the first dimensions differ.
    """
    output, inp = convert_to_tensor(output), convert_to_tensor(inp)
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match.")
    if gradients(output, inp)[0] is None:
        return None
    sizes = shape(output)
    flat = reshape(output, concat([sizes[:1], [-1]], 0))
    columns = map_fn(
        lambda i: gradients(gather(flat, i, axis=1), inp)[0],
        range(shape(flat)[1]),
        dtype=inp.dtype,
        parallel_iterations=parallel_iterations,
    )
    columns.set_shape(inp.shape.rank and [None, *inp.shape.as_list()])
    batches = transpose(columns, [1, 0, *builtins.range(2, columns.shape.rank)])
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
