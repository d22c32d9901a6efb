"""`tf.CriticalSection`: functions of which one runs at a time, whatever steps they are in. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.graph.dependencies import group
from tfexp.graph.dependencies import tuple as tuple_
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import collect, colocate_with, control_dependencies, executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_identity, mutex

# The collections of all sections and executions of a graph.
CRITICAL_SECTIONS, CRITICAL_SECTION_EXECUTIONS = "critical_sections", "critical_section_executions"


@dataclass(frozen=True)
class _ExecutionSignature:
    """One call of `execute`: its lock, the section's mutex, the resources that the function uses, whether alone."""

    op: Operation
    handle: Tensor
    resources: tuple[Tensor, ...]
    exclusive_resource_access: bool


class CriticalSection:
    """A section that one execution is in at a time; sections of one `shared_name` are one section.

    `execute(fn)` is the same as `fn()`, but that what `fn` does runs while no other execution of the section does.
    """

    def __init__(self, name: str | None = None, shared_name: str | None = None):
        with name_scope(name, "CriticalSection") as scope, control_dependencies(None):
            self._name = scope.removesuffix("/")
            self._handle: Tensor = mutex.mutex_op(shared_name=shared_name or scope, name=scope)
        collect(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        return self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` gives (tensors, operations, structures of them), once the section was free and is so again.

        ValueError where `fn` uses the section itself, or where it and another section's function use the same resource
        and either of them asked for `exclusive_resource_access`.
        """
        if executing_eagerly():
            return self._execute_eagerly(fn)
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute"):
            lock: Tensor = mutex.mutex_lock_op(self._handle)
            before = len(graph._operations)
            with control_dependencies([lock]):
                made = fn()
            created = list(graph._operations)[before:]
            self._wait_for_arguments(created, lock.op)
            resources = {t: None for op in created for t in op.inputs if t.dtype is dtypes.resource}
            self._check(tuple(resources), exclusive_resource_access)
            flat = [_same(value) for value in nest.flatten(made)]
            with control_dependencies([value for value in flat if value is not None]):
                with colocate_with(self._handle):
                    done = mutex.consume_mutex_lock_op(lock)
                # Whoever uses a part of the result runs all of it.
                results = tuple_(nest.flatten(made))
            with control_dependencies([done]):
                outputs = [_same(value) for value in results]
            execution = _ExecutionSignature(lock.op, self._handle, tuple(resources), exclusive_resource_access)
            graph.add_to_collection(CRITICAL_SECTION_EXECUTIONS, execution)
            return nest.pack_sequence_as(made, outputs)

    def _execute_eagerly(self, fn: Callable[[], Any]) -> Any:
        """An error of `fn` lets go of the section with the lock."""
        lock = mutex.mutex_lock_op(self._handle)
        made = nest.map_structure(_same, fn())
        mutex.consume_mutex_lock_op(lock)
        return made

    def _wait_for_arguments(self, created: list[Operation], lock: Operation) -> None:
        """Have the lock taken when all is there that the function uses: nobody waits for the section in vain."""
        inside = {lock, *created}
        needed = {before for op in created for before in (*(t.op for t in op.inputs), *op.control_inputs)}
        needed -= inside | set(lock.control_inputs) | {t.op for t in lock.inputs}
        if needed:
            lock._add_control_input(group(*sorted(needed, key=lambda op: op._id)))

    def _check(self, resources: tuple[Tensor, ...], exclusive: bool) -> None:
        if self._handle in resources:
            raise ValueError(
                f"Attempting to lock CriticalSection {self.name!r} within its own execute(): it would wait for ever"
            )
        for other in get_default_graph().get_collection(CRITICAL_SECTION_EXECUTIONS):
            if other.handle is self._handle or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [resource.name for resource in other.resources if resource in resources]
            if shared:
                raise ValueError(
                    f"CriticalSection {self.name!r} uses the resources {shared}, as CriticalSection {other.handle.op.name!r}"
                    " does, and one of them requested exclusive resource access (exclusive_resource_access=True)"
                )


def _same(value: Any) -> Any:
    if isinstance(value, Operation):
        return group(value)
    return None if value is None else array_identity.identity(value)
