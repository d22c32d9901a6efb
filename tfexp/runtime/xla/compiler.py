"""Segments of plans as functions that XLA compiles. Source of the compiler: JAX (`jax.jit`), ahead of time.

A segment is compiled when it first runs. Types of 64 bits are themselves within it, whatever the program's own setting of
JAX says. Arrays are handed over without a copy where their memory begins at a multiple of 64, as XLA wants it; what it gives
is NumPy's to keep, without a copy on the CPU. A variable that no other node of the step touches stays with XLA from step to
step (`runtime.resident`), and its memory is donated to its next value.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tfexp.core import log
from tfexp.core.errors import InternalError, InvalidArgumentError
from tfexp.core.kernel import Ref
from tfexp.core.op import flatten_args, group_inputs
from tfexp.core.workers import scratch
from tfexp.plan.segment import Member, Segment, Variable
from tfexp.runtime.failures import uninitialized
from tfexp.runtime.resident import is_away, moving, put, take
from tfexp.runtime.xla.cache import kept_on_disk
from tfexp.runtime.xla.devices import device_of
from tfexp.runtime.xla.stand_in import StandIn, unwrapped

_ALIGNMENT = 64  # bytes: what XLA wants of memory that it did not allocate
_LARGE = 1 << 16  # bytes: below this a copy costs less than to avoid it


class CompiledSegment:
    """What runs a segment: `f(*arrays, *refs)` gives the outputs' arrays. By several threads at once."""

    def __init__(self, segment: Segment, gpus: Sequence[int] = ()):
        """`gpus`: JAX's number of each GPU of the session."""
        self.segment = segment
        self.device = device_of(segment.device, gpus)
        self.seconds: float | None = None  # what compiling took, once it has
        self._lock = threading.Lock()
        self._compiled: Any = None
        self._static = {n for m in segment.members for n, static in zip(m.inputs, m.static, strict=True) if static}
        self._large = [(n, a) for n, a in segment.constants if a.nbytes > _LARGE and n not in self._static]
        self._constants: list[Any] = []

    @property
    def __name__(self) -> str:
        compiled = "compiled when it first runs" if self.seconds is None else f"compiled in {self.seconds:.3g} s"
        return f"XLA, {len(self.segment.members)} nodes, {compiled}"

    def __call__(self, *flat: Any) -> tuple[Any, ...]:
        count, kept = len(self.segment.inputs), len(self.segment.outputs)
        refs = flat[count:]
        with jax.enable_x64(True):
            if self._compiled is None:
                self._compile()
            arrays = [self._handed_over(number, array) for number, array in enumerate(flat[:count])]
            results = self._run_with(arrays, refs) if refs else self._compiled(*arrays, *self._constants)
            self._wait_for(results[:kept])
            return tuple(_as_numpy(array) for array in results[:kept])

    def _run_with(self, arrays: list[Any], refs: Sequence[Ref]) -> Sequence[Any]:
        """Take the variables' values, run, and put the next ones in their place."""
        pairs = list(zip(refs, self.segment.variables, strict=True))
        updated = [ref for ref, variable in pairs if variable.updated]
        with moving:
            values = [self._value_of(ref, variable) for ref, variable in pairs]
            results: Sequence[Any] = self._compiled(*arrays, *self._constants, *values)
            following = results[len(self.segment.outputs) :]
            for ref, value in zip(updated, following, strict=True):
                put(ref, value)
            self._wait_for(following)  # before another step donates them
        return results

    def _wait_for(self, results: Sequence[Any]) -> None:
        """What was handed over without a copy, as on the CPU, may change as soon as the step goes on."""
        if self.device.platform == "cpu":
            jax.block_until_ready(results)

    def _value_of(self, ref: Ref, variable: Variable) -> Any:
        value = take(ref)
        if value is None:
            raise uninitialized(ref)
        if value.shape != variable.spec.shape:
            raise InvalidArgumentError(
                None, None, f"The variable {ref.name} has shape {value.shape}, compiled for {variable.spec.shape}"
            )
        if is_away(ref):
            return value if value.device == self.device else jax.device_put(value, self.device)
        if not variable.stays:
            return jax.device_put(value, self.device)
        owned = jax.device_put(value, self.device, may_alias=False)
        put(ref, owned)
        return owned

    def _handed_over(self, number: int, array: Any) -> Any:
        if not isinstance(array, np.ndarray) or array.nbytes < _LARGE:
            return array
        if array.ctypes.data % _ALIGNMENT or not array.flags.c_contiguous:
            array = _aligned_copy(array, f"segment input {number}")
        # On the CPU the call itself takes it as it is, which costs less than to make it one of JAX's own.
        return array if self.device.platform == "cpu" else jax.device_put(array, self.device)

    # --- compiling

    def _compile(self) -> None:
        with self._lock:
            if self._compiled is not None:
                return
            began = time.perf_counter()
            segment = self.segment
            shapes = [spec for _, spec in segment.inputs]
            shapes += [(a.shape, a.dtype) for _, a in self._large]  # type: ignore[misc]
            shapes += [variable.spec for variable in segment.variables]
            first = len(segment.inputs) + len(self._large)
            donated = [first + n for n, variable in enumerate(segment.variables) if variable.updated and variable.stays]
            place = jax.sharding.SingleDeviceSharding(self.device)
            function = jax.jit(
                self._traced, donate_argnums=donated, in_shardings=place, out_shardings=place, keep_unused=True
            )
            lowered = function.lower(*[jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes])
            with kept_on_disk():
                compiled = lowered.compile()
            self._constants = [jax.device_put(array, self.device) for _, array in self._large]
            self.seconds = time.perf_counter() - began
            self._compiled = compiled
        log.info("%s: %d nodes compiled by XLA in %.3g s", segment.name, len(segment.members), self.seconds)

    def _traced(self, *arrays: Any) -> list[Any]:
        """What JAX takes down: the members one after another, on stand-ins."""
        segment = self.segment
        values: dict[int, Any] = {
            n: a if n in self._static else StandIn(jax.numpy.asarray(a), writeable=False) for n, a in segment.constants
        }
        given = iter(arrays)
        for number in (*(n for n, _ in segment.inputs), *(n for n, _ in self._large)):
            values[number] = StandIn(next(given), writeable=False)
        refs = []
        for variable in segment.variables:
            ref = Ref(segment.name, None, None)  # type: ignore[arg-type]  # nobody asks for its type before its value's
            ref.value = StandIn(next(given))  # type: ignore[assignment]
            values[variable.number] = ref
            refs.append(ref)
        for member in segment.members:
            try:
                self._run(member, values)
            except Exception as error:
                error.add_note(f"while XLA compiled {member.name} = {member.op.name}")
                raise
        outputs = [unwrapped(values[number]) for number in segment.outputs]
        outputs += [ref.value.traced for ref, v in zip(refs, segment.variables, strict=True) if v.updated]  # type: ignore[union-attr]
        return outputs

    def _run(self, member: Member, values: dict[int, Any]) -> None:
        inputs = [
            values[n].value if through else values[n] for n, through in zip(member.inputs, member.reads_through, strict=True)
        ]
        grouped = group_inputs(member.op, inputs, member.attrs)
        result = member.kernel.function(jax, *grouped, **member.kernel.declared(member.attrs))
        flat = [result] if member.op.has_single_output else flatten_args(result or ())
        for number, one in zip(member.outputs, flat, strict=False):
            if isinstance(one, Ref):
                continue
            array, spec = jax.numpy.asarray(unwrapped(one)), self.segment.results[number]
            if (array.shape, np.dtype(array.dtype)) != spec:
                raise InternalError(None, None, f"gives {array.dtype}{array.shape}, not {spec.dtype}{spec.shape}")
            values[number] = StandIn(array, writeable=False)


def _aligned_copy(array: np.ndarray, name: str) -> np.ndarray:
    """A copy in the thread's own memory, which the step is done with before the thread asks for it again."""
    memory = scratch(name, (array.nbytes + _ALIGNMENT,), np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    np.copyto(copy, array)
    return copy


class _Memory:
    """The memory of an array of XLA's that nobody else has, as NumPy takes it: to write to, too."""

    def __init__(self, array: Any):
        self._array = array
        pointer = array.unsafe_buffer_pointer()
        self.__array_interface__ = {"data": (pointer, False), "shape": (array.nbytes,), "typestr": "|u1", "version": 3}


def _as_numpy(array: Any) -> np.ndarray:
    if array.nbytes < _LARGE or array.device.platform != "cpu":
        return np.array(array)
    return np.asarray(_Memory(array)).view(array.dtype).reshape(array.shape)
