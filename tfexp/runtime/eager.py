"""Eager execution: ops run at once, on the kernels that sessions use. Source: `tf.enable_eager_execution`, TF 1.15.

`EagerGraph` is a graph that keeps no nodes: where others add a node, it calls the kernel and hands out tensors that hold
values. So every function that builds a graph computes when this one is the default, which `enable_eager_execution` makes it.
One session is implied, as long as the process: resources are found by name in `EagerGraph.resources`, and what has no
name of its own (a variable) lives as long as something refers to it.

Values are immutable. Reading a variable hands out its buffer; whoever writes to a variable whose buffer is in other hands
gives it a new one first.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
import random
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, errors
from tfexp.core.device import canonical_name
from tfexp.core.dtypes import DType
from tfexp.core.kernel import DEAD, Ref, aligned_empty
from tfexp.core.op import Op, flatten_args, group_inputs, output_types, set_builder
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph import defaults, tape
from tfexp.graph.eager_tensor import DEVICE, EagerOperation, EagerTensor
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import global_default_graph, set_global_default_graph
from tfexp.graph.shape_inference import refused
from tfexp.graph.tensor import Tensor
from tfexp.runtime.eager_dispatch import apply_eagerly
from tfexp.runtime.failures import as_eager_error, speaks_python, uninitialized
from tfexp.runtime.resources import Resources
from tfexp.runtime.step import NodeContext
from tfexp.runtime.waiting import wait_for

# Kernels that remember something (random ops) are kept by op and attributes; so many, then the oldest is forgotten.
_MOST_CONTEXTS = 1000
_MOST_SCALARS = 1000


class EagerContext(NodeContext):
    """What a kernel may ask for: resources without a name of their own are new each time, and nobody else's.

    Nor does anybody else keep them, or what the kernel remembers.
    """

    __slots__ = ()

    def resource(self, container: str, name: str, create: Callable[[], Any], kind: str = "") -> Any:
        return create() if name == self.node_name else super().resource(container, name, create, kind)

    @property
    def node_state(self) -> dict[str, Any]:
        """It lives as long as the context."""
        if self._state is None:
            self._state = {}
        return self._state


class EagerGraph(Graph):
    """The default graph of eager execution: `add_node` computes."""

    is_eager = True

    def __init__(self) -> None:
        super().__init__()
        self.resources = Resources()
        self._contexts: dict[Any, EagerContext] = {}
        self._numbers = itertools.count()
        self._scalars: dict[Any, Tensor] = {}
        self._op_seeds = random.Random()

    def add_node(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any] | None = None,
        name: str | None = None,
        output_dtypes: Sequence[DType] | None = None,
        compute_shapes: bool = True,
        device: str = "",
        control_inputs: Sequence[Operation] | None = None,
    ) -> Operation:
        """Run the op; the returned Operation has the results as its outputs. Raises what `Session.run` would.

        Shapes are those of the values, and the devices around it say where: the last three arguments are for nodes.
        """
        op_def = self._registered(op_type)
        attrs = dict(attrs or {})
        self._apply_attr_scopes(op_type, attrs)
        if self._container and op_def.is_stateful and attrs.get("container") == "":
            attrs["container"] = self._container
        for tensor in inputs:
            if not isinstance(tensor, EagerTensor):
                raise TypeError(f"{tensor} belongs to a graph; eager execution, which runs {op_type}, has values only")
        results = self._compute(op_def, inputs, attrs)
        dtypes = output_dtypes if output_dtypes is not None else output_types(op_def, attrs)
        outputs = [EagerTensor(value, dtype, self) for value, dtype in zip(results, dtypes, strict=True)]
        op = EagerOperation(self, op_def, (name or op_type).rstrip("/"), inputs, attrs, outputs)
        if op_def.name in _REMEMBER_THEIR_OP:
            outputs[0]._producer = op.without_outputs()
        if tape.recording.tapes:
            tape.record(op)
        return op

    @property
    def scalars(self) -> MutableMapping[Any, Tensor]:
        if len(self._scalars) > _MOST_SCALARS:
            self._scalars.clear()
        return self._scalars

    def value(self, array: Any, dtype: DType) -> EagerTensor:
        """A tensor that holds a copy of `array`."""
        return EagerTensor(np.array(array), dtype, self)

    def _compute(self, op_def: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> Sequence[Any]:
        kernel = op_def.kernels.get("CPU")
        # Functions that ops are given do not come again.
        takes_functions = any("func" in attr.kind for attr in op_def.attrs.values())
        if kernel is None:
            raise errors.UnimplementedError(None, None, f"{op_def.name} cannot run by itself, outside of a graph")
        has_memory = op_def.is_stateful and not kernel.handle and not takes_functions
        context = self._remembered_context(op_def, attrs) if has_memory else self.context_of(op_def)
        refusal = None
        try:
            values = _input_values(op_def, inputs, attrs)
            refusal = _refusal(op_def, values, attrs)
            if refusal is not None and op_def.is_stateful:
                raise refusal
            with np.errstate(all="ignore"):
                # A kernel that refuses too has the words that TensorFlow's users know.
                result = wait_for(kernel.compute(context, *group_inputs(op_def, values, attrs), **attrs))
            if refusal is not None:
                raise refusal
        except Exception as error:
            reason = refusal if refusal is not None and speaks_python(error) else error
            raise as_eager_error(reason, op_def.name) from error
        results = [result] if op_def.has_single_output else flatten_args(result) if result is not None else []
        if any(value is DEAD for value in results):
            raise errors.UnimplementedError(None, None, f"{op_def.name} chooses among a graph's branches: use Python's if")
        return results

    def context_of(self, op_def: Op) -> EagerContext:
        """What one call of an op's kernel may ask for."""
        return EagerContext(f"{op_def.name}_{next(self._numbers)}", DEVICE, self.resources, self._functions)

    def _remembered_context(self, op_def: Op, attrs: dict[str, Any]) -> EagerContext:
        """Of a kernel with a memory (random ops), the one that an op of these attributes had before."""
        key = (op_def.name, repr(sorted(attrs.items())))
        found = self._contexts.pop(key, None)
        if found is None:
            found = self.context_of(op_def)
        self._contexts[key] = found  # the last used one comes last
        if len(self._contexts) > _MOST_CONTEXTS:
            self._contexts.pop(next(iter(self._contexts)))
        return found

    @property
    def marks_nodes(self) -> bool:
        """Whether something around the call changes an op's attributes."""
        return bool(self._gradient_overrides or self._attr_scopes)

    # --- what surrounds a node has little to say ------------------------------------------------------------------

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        # From here on random ops begin anew.
        self._seed = seed
        self._op_seeds = random.Random(seed)
        self._contexts.clear()

    def next_op_seed(self) -> int:
        return self._op_seeds.randint(0, 2**31 - 1)

    def _enter_name_scope(self, name: str | bytes | None) -> str:
        """Any name will do: only a variable's is looked at."""
        old, self._name_stack = self._name_stack, self._scope_below(name.decode() if isinstance(name, bytes) else name)
        return old

    def _new_name(self, name: str) -> str:
        """Names tell who made a variable, and need not differ."""
        return f"{self._name_stack}/{name}" if self._name_stack else name

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Nothing to wait for: everything before has run."""
        yield

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """There is one device; ValueError for a name that is none."""
        if device_name_or_function is not None and not callable(device_name_or_function):
            canonical_name(device_name_or_function)
        yield

    def prevent_feeding(self, tensor: Tensor) -> None:
        pass

    def prevent_fetching(self, op: Operation) -> None:
        pass


# Their results know what made them: variables have their names from there, and slices tell how to assign to them.
_REMEMBER_THEIR_OP = ("VarHandleOp", "VariableV2", "StridedSlice")


def _input_values(op_def: Op, inputs: Sequence[EagerTensor], attrs: dict[str, Any]) -> list[Any]:
    """The inputs as kernels take them: references where they are declared, else values."""
    refs: list[bool] = []
    for arg in op_def.inputs:
        refs += [arg.is_ref or (op_def.on_variables and arg.dtype is dtypes.resource)] * arg.count(attrs)
    values = []
    for tensor, is_ref in zip(inputs, refs, strict=True):
        value = tensor._value
        if isinstance(value, Ref):
            if not is_ref:
                value = read(value) if tensor._dtype._is_ref_dtype else value
            else:
                if value.value is None and not op_def.allows_uninitialized_input:
                    raise uninitialized(value)
                if op_def.writes_refs:
                    _own(value)
        values.append(value)
    return values


def read(ref: Ref) -> np.ndarray:
    """The variable's value; FailedPreconditionError before its first assignment."""
    if ref.value is None:
        raise uninitialized(ref)
    return ref.value


def _own(ref: Ref) -> None:
    """Give the variable a buffer of its own if somebody holds the one that it has, or a view of it."""
    buffer_references, base_references = _references(ref)
    if buffer_references > _OWN_REFERENCES[0] or base_references > _OWN_REFERENCES[1]:
        buffer: Any = ref.value
        own = aligned_empty(buffer.shape, buffer.dtype)
        own[...] = buffer
        ref.value = own


def _references(ref: Ref) -> tuple[int, int]:
    """How many there are to a variable's buffer and to the memory below it, those of looking at them included."""
    buffer = ref.value
    if buffer is None:
        return 0, 0
    return sys.getrefcount(buffer), 0 if buffer.base is None else sys.getrefcount(buffer.base)


def _own_references() -> tuple[int, int]:
    """Those of a variable whose value nobody else holds: how many looking takes is up to the version of Python."""
    ref = Ref("", dtypes.float32, TensorShape([1]))
    ref.value = aligned_empty((1,), np.float32)
    return _references(ref)


_OWN_REFERENCES = _own_references()


def _refusal(op_def: Op, values: Sequence[Any], attrs: dict[str, Any]) -> errors.OpError | None:
    """Why a graph would refuse these inputs when it is built, which kernels need not look at again."""
    words = refused(op_def, attrs, [_shape_of(v) for v in values])
    return None if words is None else errors.InvalidArgumentError(None, None, words)


def _shape_of(value: Any) -> InputShape:
    if isinstance(value, Ref):
        if value.by_handle:
            return InputShape(TensorShape([]), value, find_of_handle=operator.attrgetter("shape"))
        return InputShape(value.shape)
    if not isinstance(value, (np.ndarray, np.generic)):
        return InputShape(TensorShape([]))  # a handle
    return InputShape(TensorShape(value.shape), value, np.asarray, _as_shape)


def _as_shape(array: np.ndarray | np.generic) -> TensorShape:
    return TensorShape([None if size < 0 else int(size) for size in array.tolist()] if array.ndim else None)


def list_devices() -> list[str]:
    """The devices that ops may run on. Source: `tf.contrib.eager.list_devices`."""
    return [DEVICE]


def num_gpus() -> int:
    """0. Source: `tf.contrib.eager.num_gpus`."""
    return 0


set_builder(apply_eagerly)


defaults.set_eager_world(EagerGraph)


@contextlib.contextmanager
def eager_mode() -> Iterator[EagerGraph]:
    """A block in which ops run at once, in a world of its own."""
    with EagerGraph().as_default() as world:
        yield world


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Run ops at once from here on, in the whole process. Source: `tf.enable_eager_execution`, TF 1.15.

    `config`, `device_policy` and `execution_mode` are accepted; there is one device. ValueError when a graph has been built.
    """
    current = global_default_graph()
    if current is None or not current.is_eager:
        if current is not None or not defaults.graph_stack.is_empty:
            raise ValueError("tf.enable_eager_execution must be called at program startup.")
        set_global_default_graph(EagerGraph())
