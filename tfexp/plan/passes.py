"""From a graph to a plan: the passes, in the order in which they run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.absorb import absorb
from tfexp.plan.accumulate import AddProduct, accumulate
from tfexp.plan.assign import Places
from tfexp.plan.bind import Libraries, bind
from tfexp.plan.buffers import assign_buffers
from tfexp.plan.commute import commute
from tfexp.plan.freeze import freeze
from tfexp.plan.fuse import fuse
from tfexp.plan.ir import Draft, drafts_within
from tfexp.plan.lay import lay
from tfexp.plan.leave import leave
from tfexp.plan.loops import contract_loops
from tfexp.plan.memory import check_memory
from tfexp.plan.order import order
from tfexp.plan.place import place
from tfexp.plan.plan import PassRecord, Plan
from tfexp.plan.prune import prune
from tfexp.plan.segment import Jit, find_segments
from tfexp.plan.simplify import simplify
from tfexp.plan.specialise import specialise
from tfexp.plan.strands import find_strands

if TYPE_CHECKING:
    from tfexp.plan.compiled_loops import Compiler


def _in_loops_too(run: Callable[[Draft], None]) -> Callable[[Draft], None]:
    """The pass, run on the parts of all loops as well."""

    def run_everywhere(draft: Draft) -> None:
        for part in drafts_within(draft):
            run(part)

    return run_everywhere


# After prune, place, loops and order, which every plan goes through: what is worth its time for a step that comes again.
# The order matters: shapes before what follows from them, fewer nodes before they are bound, callables before their
# buffers, and before these also which nodes run at the same time.
def _optimising(
    threads: int, jit: Jit | None, loops: Compiler | None, libraries: Libraries, add_product: AddProduct | None
) -> list[tuple[str, Callable[[Draft], None]]]:
    return [
        ("specialise", specialise),
        ("simplify", _in_loops_too(simplify)),
        *([] if jit is None else [("compile", lambda draft: find_segments(draft, jit))]),
        ("commute", _in_loops_too(commute)),
        ("bind", _in_loops_too(lambda draft: bind(draft, libraries))),
        *([] if add_product is None else [("accumulate", lambda draft: accumulate(draft, add_product))]),
        ("lay", _in_loops_too(lay)),
        ("absorb", _in_loops_too(absorb)),
        ("leave", _in_loops_too(leave)),
        *([] if loops is None else [("loops of elements", _in_loops_too(_loop_compiling(loops)))]),
        ("fuse", _in_loops_too(fuse)),
        ("strands", lambda draft: find_strands(draft, threads)),
        ("buffers", _in_loops_too(assign_buffers)),
    ]


def _loop_compiling(loops: Compiler) -> Callable[[Draft], None]:
    from tfexp.plan.compiled_loops import compile_loops  # few sessions compile loops

    return lambda draft: compile_loops(draft, loops)


def make_plan(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    feed_shapes: Sequence[TensorShape],
    assignment: Places,
    optimise: bool,
    threads: int = 1,
    memory: Mapping[str, int] | None = None,
    jit: Jit | None = None,
    loops: Compiler | None = None,
    libraries: Libraries = MappingProxyType({}),
    add_product: AddProduct | None = None,
    inter_op: int = 1,
) -> Plan:
    """The plan of the step that computes `fetches` and runs `targets`, given `feeds` of these (perhaps partial) shapes.

    `threads`: how many may run nodes of the step at the same time. `memory`: bytes that devices have, by name; a step that
    needs more is a ResourceExhaustedError. `jit`: what is to be compiled as a whole, if anything. `loops`: what compiles
    the loops of element-wise nodes and of updates, if anything does. `libraries`: what may compute nodes.
    `add_product`: what adds products to variables in place, if anything does. `inter_op`: how many nodes that call code of
    the user's may run at the same time.
    Without `optimise` every node of the pruned graph is a step, which is quick to make and independent of the shapes.
    """
    began = time.perf_counter()
    draft = prune(fetches, targets, feeds, feed_shapes)
    elements: list[Tensor | Operation] = [*fetches, *targets]
    graph = elements[0].graph if elements else None
    records = [
        PassRecord("prune", 0 if graph is None else len(graph._operations), len(draft.nodes), time.perf_counter() - began)
    ]
    passes: list[tuple[str, Callable[[Draft], None]]] = [
        ("place", lambda d: place(d, assignment)),
        ("loops", contract_loops),
        ("order", _in_loops_too(lambda d: order(d, inter_op))),
    ]
    if optimise:
        passes.extend(_optimising(threads, jit, loops, libraries, add_product))
        if memory:
            passes.append(("memory", lambda d: check_memory(d, memory, next(iter(memory)))))
    for name, run in passes:
        before, began = len(draft.nodes), time.perf_counter()
        run(draft)
        records.append(PassRecord(name, before, len(draft.nodes), time.perf_counter() - began))
    return freeze(draft, tuple(feed_shapes), inter_op, tuple(records))
