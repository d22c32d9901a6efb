"""Element-wise nodes and optimizers' updates as loops that a compiler makes: once over memory for what NumPy does in many.

What a node does to each element is recorded from its kernel (`plan.recording`), so that no op is named here; what cannot be
recorded stays NumPy's. A loop computes what the kernels do in the same order and precision, so the numbers are the same, to
the bit, and it does not matter which steps ran before anything was compiled.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import workers
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import Call
from tfexp.core.op import Op, group_inputs
from tfexp.plan.groups import Groups, inputs_of, node_of, replace
from tfexp.plan.ir import Draft, Node, Value, is_pure, ref_flags
from tfexp.plan.loop_source import LoopSource, write_loop
from tfexp.plan.mortal import find_mortal
from tfexp.plan.recording import Recorder, Recording, StandIn, UnrecordableError
from tfexp.plan.segment import static_flags

_WORTH_SHARING = 1 << 18  # elements of a variable
_SOME = 2  # rows: as many as any
_WORTH_COMPILING = 2  # operations: NumPy's own loop for one is as good

# Takes the loop's arguments, its result if it has one, and its extents; returns whether the arrays have the sizes planned.
Loop = Callable[..., bool]
Compiler = Callable[[str, LoopSource], Loop]
"""Of the name of a node and a loop."""


def compile_loops(draft: Draft, compiler: Compiler) -> None:
    """Let updates run compiled loops, and put a node with one in place of each group of element-wise nodes."""
    mortal = find_mortal(draft.nodes)
    candidates = []
    for node in draft.nodes:
        if node in mortal:
            continue
        if any(ref_flags(node)):
            if (update := _record_rows(node) if "ROWS" in node.op.kernels else _record_update(node)) is not None:
                node.call = Call((_Update if update.indices is None else _RowUpdate)(node, update, compiler))
        elif _is_elementwise(node) and _record([node], node.inputs) is not None:
            candidates.append(node)
    groups = {}
    for group in Groups(draft, candidates).found():
        inputs = inputs_of(group)
        recording = _record(group, inputs)
        if recording is not None and recording.work >= _WORTH_COMPILING:
            groups[_compiled(group, inputs, recording, compiler)] = group
    replace(draft, groups)


def _is_elementwise(node: Node) -> bool:
    call = node.call
    if (
        "XLA" not in node.op.kernels
        or call is None
        or not call.out
        or not (call.elementwise or call.pieces)
        or len(node.outputs) != 1
        or not is_pure(node)
    ):
        return False
    return node.outputs[0].constant is None and all(_size(v) > 0 for v in node.inputs) and _size(node.outputs[0]) > 1


def _size(value: Value) -> int:
    """The elements of a value of a known shape; 0 for others."""
    return (value.shape.num_elements() or 0) if value.shape.is_fully_defined() else 0


def _dtype(value: Value) -> np.dtype[Any]:
    return np.dtype(value.dtype.base_dtype.as_numpy_dtype)


def _dims(value: Value) -> tuple[int, ...]:
    return tuple(dim for dim in value.shape.as_list() if dim is not None)  # all are known


class _NoCompiler:
    """What kernels for XLA find in place of the module `jax`."""

    def __getattr__(self, name: str) -> Any:
        raise UnrecordableError(f"jax.{name}")


# --- recording nodes ---------------------------------------------------------------------------------------------------


def _record(group: Sequence[Node], inputs: Sequence[Value]) -> Recording | None:
    """The loop of a group of nodes that take `inputs`; None when it cannot be recorded."""
    recorder = Recorder(_dims(group[-1].outputs[0]))
    try:
        known: dict[Value, Any] = {v: recorder.argument(_dims(v), _dtype(v)) for v in inputs}
        for node in group:
            value = node.outputs[0]
            result = recorder.stand_in(_run(node, [known[v] for v in node.inputs]))
            if (result.shape, result.dtype) != (_dims(value), _dtype(value)):
                return None
            known[value] = result
        return recorder.finish([(-1, known[group[-1].outputs[0]])])
    except UnrecordableError:
        return None


def _run(node: Node, inputs: Sequence[Any]) -> Any:
    return run_kernel(node.op, node.attrs, inputs, [value.constant for value in node.inputs])


def run_kernel(op: Op, attrs: dict[str, Any], inputs: Sequence[Any], known: Sequence[Any]) -> Any:
    """What the op's kernel for compilers gives for stand-ins; `known`: the inputs' values, where there are any.

    UnrecordableError unless it is a matter of elements.
    """
    kernel = op.kernels["XLA"]
    given = []
    for stand_in, value, is_static in zip(inputs, known, static_flags(op, attrs, kernel), strict=True):
        if is_static and value is None:
            raise UnrecordableError("an input whose value nobody knows decides what the kernel does")
        given.append(value if is_static else stand_in)
    try:
        return kernel.compute(_NoCompiler(), *group_inputs(op, given, attrs), **attrs)
    except ValueError as error:
        raise UnrecordableError("inputs that the node refuses when it runs") from error


def _record_update(node: Node) -> Recording | None:
    """The loop of a node that updates variables of the shape of its largest other input; None when it cannot be recorded."""
    flags = ref_flags(node)
    arrays = [value for value, is_ref in zip(node.inputs, flags, strict=True) if not is_ref]
    if node.call is None or "XLA" not in node.op.kernels or not arrays or not all(_size(value) > 0 for value in arrays):
        return None
    largest = max(arrays, key=_size)
    if _size(largest) < 2:
        return None
    dims, dtype = _dims(largest), _dtype(largest)
    recorder = Recorder(dims)
    try:
        given: list[Any] = [
            _StandInRef(recorder.argument(dims, dtype, writeable=True)) if is_ref else _argument(recorder, value)
            for value, is_ref in zip(node.inputs, flags, strict=True)
        ]
        recording = recorder.finish(_stores(given, lambda: _run(node, given)))
    except UnrecordableError:
        return None
    return recording if recording.stores and recording.work >= _WORTH_COMPILING else None


def _record_rows(node: Node) -> Recording | None:
    """The loop of a node that updates rows of variables; None when it cannot be recorded.

    How many rows it will be need not be known.
    """
    row, (indices, updates) = _row(node), _places(node)
    if row is None or updates is None:
        return None
    dims, dtype = (_SOME, math.prod(row)), _dtype(node.inputs[updates])
    recorder = Recorder(dims)
    try:
        given: list[Any] = []
        for n, (value, is_ref) in enumerate(zip(node.inputs, ref_flags(node), strict=True)):
            if is_ref:
                given.append(_StandInRef(recorder.argument(dims, dtype, writeable=True, by_row=True)))
            elif n == indices:
                recorder.indices(_dtype(value))
                given.append(None)
            else:
                given.append(recorder.argument(dims if n == updates else (), _dtype(value)))
        return recorder.finish(_stores(given, lambda: node.op.kernels["ROWS"].compute(None, *given, **node.attrs)))
    except UnrecordableError:
        return None


def _places(node: Node) -> tuple[int, int | None]:
    """Which inputs are the indices and, if any, what comes row by row."""
    indices = [arg.name for arg in node.op.inputs].index("indices")
    others = (n for n, is_ref in enumerate(ref_flags(node)) if not is_ref and n != indices)
    return indices, next((n for n in others if node.inputs[n].shape.rank != 0), None)


def _row(node: Node) -> tuple[int, ...] | None:
    """The shape of a row of the variable that a node updates, if that is known, and has elements."""
    handle = node.inputs[0]
    if handle.dtype._is_ref_dtype:
        shape = handle.shape
    elif handle.node is not None and "shape" in handle.node.attrs:
        shape = handle.node.attrs["shape"]
    else:
        return None
    dims = shape.known_dims
    row = tuple(dim for dim in dims[1:] if dim) if dims else ()
    return row if dims and len(row) == len(dims) - 1 else None


def _argument(recorder: Recorder, value: Value) -> StandIn:
    return recorder.argument(_dims(value), _dtype(value))


class _StandInRef:
    """As good as a `Ref` to a kernel that updates its value in place."""

    updating = contextlib.nullcontext()

    def __init__(self, value: StandIn):
        self.value = value

    def __getattr__(self, name: str) -> Any:
        raise UnrecordableError(f"`{name}` of a variable")


def _stores(given: Sequence[Any], run: Callable[[], Any]) -> list[tuple[int, StandIn]]:
    """The stand-ins of variables that `run` writes to, by number of the argument."""
    before = {n: (one.value, one.value.number) for n, one in enumerate(given) if isinstance(one, _StandInRef)}
    run()
    if any(given[n].value is not stand_in for n, (stand_in, _) in before.items()):
        raise UnrecordableError("a variable is given another array")
    return [(n, stand_in) for n, (stand_in, number) in before.items() if stand_in.number != number]


# --- what runs a loop --------------------------------------------------------------------------------------------------


def _compiled(group: Sequence[Node], inputs: Sequence[Value], recording: Recording, compiler: Compiler) -> Node:
    call = Call(_Elementwise(group[-1], recording, compiler), out=True, pieces=True)
    return node_of(group, inputs, call, shares=False)


class _Elementwise:
    """`f(*inputs, out=None)`; along the first dimension, pieces of the inputs and of `out` will do."""

    def __init__(self, node: Node, recording: Recording, compiler: Compiler):
        source = write_loop(recording)
        self.__name__ = f"loop of {recording.work} operations"
        self._loop = compiler(node.name, source)
        self._numbers = _numbers(recording)
        self._extents = source.extents
        self._dims = recording.dims
        self._dtype = _dtype(node.outputs[0])

    def __call__(self, *inputs: Any, out: np.ndarray | None = None) -> np.ndarray:
        result = np.empty(self._dims, self._dtype) if out is None else out
        arguments = list(inputs)
        for n in self._numbers:
            arguments[n] = inputs[n].item()
        if not self._loop(*arguments, result, *self._extents):
            shapes = ", ".join(str(np.shape(one)) for one in inputs)
            raise InvalidArgumentError(
                None, None, f"Inputs of shapes {shapes} do not broadcast to {result.shape} as the plan of the step has it"
            )
        return result


class _Update:
    """`f(*inputs)` of an op that updates variables; where these are not as planned, its kernel does it, or says why not.

    The first of them has one update at a time, and the others, an optimizer's slots, come with it.
    """

    def __init__(self, node: Node, recording: Recording, compiler: Compiler):
        source = write_loop(recording)
        self.__name__ = f"loop of {recording.work} operations"
        self._loop = compiler(node.name, source)
        self._numbers = _numbers(recording)
        self._refs = [n for n, is_ref in enumerate(ref_flags(node)) if is_ref]
        self._extents = source.extents
        self._dims = recording.dims
        self._is_cut = [argument.dims == recording.dims for argument in recording.arguments]
        self._is_large = math.prod(recording.dims) >= _WORTH_SHARING
        self._kernel, self._attrs = node.op.kernels["CPU"], node.attrs

    def __call__(self, *inputs: Any) -> Any:
        variable = inputs[self._refs[0]]
        with variable.updating:
            return variable if self._run_loop(inputs) else self._run_kernel(inputs)

    def _run_loop(self, inputs: Sequence[Any]) -> bool:
        """Whether the loop could do it: else nothing has changed."""
        arguments = list(inputs)
        for n in self._refs:
            array = arguments[n] = inputs[n].value
            if array is None or array.shape != self._dims:
                return False
        for n in self._numbers:
            arguments[n] = inputs[n].item()
        return self._share(arguments) if self._is_large and workers.are_alone() else self._loop(*arguments, *self._extents)

    def _share(self, arguments: Sequence[Any]) -> bool:
        """The loop by all threads, each with some of the rows."""
        done: list[bool] = []

        def work(part: int, start: int, stop: int) -> None:
            rows = [a[start:stop] if cut else a for a, cut in zip(arguments, self._is_cut, strict=True)]
            done.append(self._loop(*rows, *self._extents))

        workers.share(work, self._dims[0])
        return all(done)

    def _run_kernel(self, inputs: Sequence[Any]) -> Any:
        return self._kernel.compute(None, *inputs, **self._attrs)


class _RowUpdate(_Update):
    """The same of some rows."""

    def __init__(self, node: Node, recording: Recording, compiler: Compiler):
        super().__init__(node, recording, compiler)
        self._indices, updates = _places(node)
        assert updates is not None  # else there were no recording
        self._updates = updates
        self._row = _row(node)

    def _run_loop(self, inputs: Sequence[Any]) -> bool:
        arguments, length = list(inputs), self._dims[1]
        for n in self._refs:
            array = inputs[n].value
            if array is None or array.shape[1:] != self._row or not array.flags.c_contiguous:
                return False
            arguments[n] = array.reshape(-1, length)
        indices, updates = inputs[self._indices], inputs[self._updates]
        if updates.shape != indices.shape + self._row:
            return False
        arguments[self._indices], arguments[self._updates] = indices.reshape(-1, 1), updates.reshape(-1, length)
        for n in self._numbers:
            arguments[n] = inputs[n].item()
        return self._loop(*arguments, *self._extents)


def _numbers(recording: Recording) -> list[int]:
    """The arguments that are passed as numbers."""
    return [n for n, argument in enumerate(recording.arguments) if argument.dims == ()]
