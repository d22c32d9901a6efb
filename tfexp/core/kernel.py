"""The contract between kernels and whoever runs them.

A kernel is `compute(ctx, *arrays, **attrs)`. Values are NumPy arrays or NumPy scalars (0-d), strings are object arrays of
bytes; an input declared `ref` arrives as a `Ref`, and a `ref` output is returned as one. A kernel never writes to an array
that it was given, except through a Ref, and may return a view of an input only when it is registered with `view=True`.
What a kernel keeps beyond its call (queues, tables) has to be a copy: inputs may be the caller's arrays, or buffers that the
next step writes to. What it returns without `view` is the step's alone.

Control flow: a kernel may return `DEAD` for an output (`Switch` does, for the branch that is not taken). A node with a dead
input or a node that waits for a dead one does not run, and all its outputs are dead; only a kernel registered with
`takes_dead=True` (`Merge`) is called as long as one of its inputs is alive, and then finds `DEAD` in place of the others.

Failures: a kernel raises a `tf.errors` class with `None` for node and op (the executor fills them in and appends the node's
name), or ValueError, TypeError, IndexError, ArithmeticError (these become InvalidArgumentError).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import OpError
from tfexp.core.shape import TensorShape
from tfexp.core.waiting import Waiting


class _Dead:
    """The type of DEAD, the value of an output that was not computed because its branch was not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Any = _Dead()


@dataclass(frozen=True)
class Kernel:
    """What runs an op on a kind of device: `function(ctx, *inputs, **attrs)`, attrs as far as `attr_names` says (None: all).

    `view`: the result may share memory with an input. `handle`: the result is a handle (Ref, queue …) that stays the same
    object for as long as the session's resources do, so that one call for a session is enough. `takes_dead`: see DEAD.
    `shares`: it splits its work over the intra-op threads (`core.workers`); in steps with such a node, BLAS keeps to one
    thread.
    `waits`: where it would have to wait for other steps or nodes, it returns a `core.waiting.Waiting`.
    `may_block`: it calls code of the user's, which may wait for whatever it likes. Independent nodes of this kind run at the
    same time, in threads of their own.
    `reads_variable`: the result is the array of the one input, a variable's Ref, as it is now: whoever runs the kernel
    copies it where the step may update the variable before the last reader of the result.
    `static`: names of inputs whose values decide how the rest is computed (axes, shapes). On "XLA", they must be known when
    the node is compiled, and the kernel gets them as NumPy arrays. `floats`: it takes no integers (whose division may fail).

    On "ROWS" the kernel of an op that updates some rows of variables says what becomes of those: its refs hold rows, one for
    each of the op's `indices`, at which it does not look. It is recorded for loops (`plan.compiled_loops`).

    On "XLA" the kernel runs once, to be compiled (`runtime.xla`): the inputs are stand-ins for arrays, on which NumPy's
    functions, operators and in-place updates work as on arrays but whose values nobody can ask for, and `ctx` is the module
    `jax`. `x.traced` is JAX's own array for a stand-in; results may be either.
    """

    function: Callable[..., Any]
    attr_names: tuple[str, ...] | None = None
    view: bool = False
    handle: bool = False
    takes_dead: bool = False
    shares: bool = False
    waits: bool = False
    may_block: bool = False
    reads_variable: bool = False
    static: tuple[str, ...] = ()
    floats: bool = False

    def declared(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a node's attributes that the function takes."""
        return dict(attrs) if self.attr_names is None else {name: attrs[name] for name in self.attr_names}

    def takes(self, dtypes: Iterable[DType]) -> bool:
        """Whether the kernel computes with inputs of these types; static ones are not among them."""
        return not self.floats or not any(dtype.base_dtype.is_integer for dtype in dtypes)

    def compute(self, ctx: KernelContext | None, *inputs: Any, **attrs: Any) -> Any:
        """Run it once; inputs grouped as `core.op.group_inputs` does."""
        return self.function(ctx, *inputs, **self.declared(attrs))


@dataclass(frozen=True)
class Call:
    """A direct way to compute one node: `function(*inputs)`, flat inputs, no context, attrs bound.

    `out`: takes `out=` (NumPy ufuncs also as last positional argument) and then writes the one result there (same shape and
    dtype as the result) and returns it. `pieces`: with `out`, what differs in the first dimension may be computed apart (for
    inputs that have it, too; others are broadcast). `elementwise`: that, and the result may be written over an input of the
    same shape and dtype.
    `view`: the result may share memory with an input.
    `scratch`: shapes and dtypes of work arrays that are passed after the inputs, `function(*inputs, *scratch)`; their
    content is whatever the last call left, they are the call's own while it runs, and the result must not live in them.
    `followed_by`: for a node whose first input is the result, which nobody else reads: the call that computes both, of this
    node's inputs and then that one's others; None where there is none.
    `leaves`: shape and dtype of an array that can help the node's gradient, and the call that fills it, its last input, too.
    `finds`: of a gradient's node, the call whose last input is such an array.
    `lays`: the number of an input, and the place where that lies in the result, whose rest is zeros.
    Inputs declared `ref` arrive as `Ref`, and then the result is the Ref that the op returns: so in-place updates are bound.
    """

    function: Callable[..., Any]
    out: bool = False
    elementwise: bool = False
    pieces: bool = False
    view: bool = False
    scratch: tuple[tuple[tuple[int, ...], Any], ...] = ()
    followed_by: Callable[[BindRequest], Call | None] | None = None
    leaves: tuple[tuple[int, ...], Any, Call] | None = None
    finds: Call | None = None
    lays: tuple[int, Place] | None = None


Place = tuple[slice, ...]
"""A stretch of each axis, from a beginning to an end that are not negative."""


@dataclass(frozen=True)
class BindRequest:
    """What a bind rule knows of the node: everything is fixed for as long as the plan lives.

    Shapes may be partly unknown in a shape-generic plan; a rule that needs more returns None.
    """

    op_type: str
    name: str
    attrs: dict[str, Any]
    input_dtypes: tuple[DType, ...]
    input_shapes: tuple[TensorShape, ...]
    input_values: tuple[np.ndarray | None, ...]  # constants known at planning time
    output_dtypes: tuple[DType, ...]
    output_shapes: tuple[TensorShape, ...]


class Ref:
    """A variable's storage: one buffer that is updated in place, so that readers of the buffer see the update.

    `value` is None until the first assignment. Assigning an array of another shape or dtype replaces the buffer. Whoever
    changes it has `updating` meanwhile: NumPy lets other threads go on in the midst of a large array.
    """

    __slots__ = ("dtype", "name", "shape", "updating", "value")

    by_handle = False  # whether tensors that stand for it are handles (of dtype resource), not references

    def __init__(self, name: str, dtype: DType, shape: TensorShape):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.value: np.ndarray | None = None
        self.updating = threading.RLock()

    def no_value(self) -> str:
        """What to say to who wants the value where there is none."""
        return f"Attempting to use uninitialized value {self.name}"

    def assign(self, value: Any) -> None:
        """Store a copy of `value`, in place when the buffer fits."""
        with self.updating:
            buffer = self.value
            if buffer is not None and buffer.shape == np.shape(value):
                buffer[...] = value
            else:
                fresh = aligned_empty(np.shape(value), self.dtype.as_numpy_dtype)
                fresh[...] = value
                self.value = fresh  # now that it is whole: others may be waiting for the variable to have a value


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A new C-ordered array whose memory begins at a multiple of 64: updates of large variables are 10% quicker so."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        return np.empty(shape, kind)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    arena = np.empty(size + 64, np.uint8)
    start = -arena.ctypes.data % 64
    return arena[start : start + size].view(kind).reshape(shape)


class BoundFunction(Protocol):
    """A graph function that a kernel can call: values in, values out. By several threads at once."""

    @property
    def function(self) -> Any:
        """The graph's function (`graph.function.Function`)."""
        ...

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]: ...

    def each(self, rows: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], Exception | None]:
        """Called with each row of values, all of the first row's shapes: the results up to one that fails, and its error."""
        ...

    def node_state(self, node_name: str) -> dict[str, Any]:
        """What that node of it remembers from call to call."""
        ...

    def rebound(self, function: Any) -> BoundFunction:
        """Another function, called with the same resources."""
        ...


class Group(Protocol):
    """A device's membership in a group of devices that have a collective op each: what they hand to each other."""

    sources: dict[int, int | None]
    """By instance: the rank of the member that broadcasts, once the members know that they mean the same."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def devices(self) -> tuple[str, ...]:
        """The members' names, by rank."""
        ...

    def begin(self, instance: int) -> str:
        """Another execution of an op: what the names of its values begin with, the same on all members."""
        ...

    def send(self, rank: int, name: str, value: Any) -> None:
        """Have the value, which nobody writes to any more, there for that member."""
        ...

    def receive(self, rank: int, name: str) -> Waiting:
        """What that member sends to this one under the name, to come."""
        ...

    def leave(self, error: OpError) -> None:
        """This member has failed: whoever waits for it gets an AbortedError, and the group has to form anew."""
        ...


class KernelContext(Protocol):
    """What a kernel may ask for besides its inputs. One context belongs to one node in one session (or task)."""

    @property
    def node_name(self) -> str: ...

    @property
    def device(self) -> str:
        """The whole name of the device that the node runs on."""
        ...

    @property
    def node_state(self) -> dict[str, Any]:
        """What this node's kernel remembers from run to run (e.g. a random generator); lives with the session."""
        ...

    @property
    def default_container(self) -> str:
        """The container of resources that name none."""
        ...

    def resource(self, container: str, name: str, create: Callable[[], Any], kind: str = "") -> Any:
        """The resource of that container (`""`: the default one), kind and name, made by `create` if there is none."""
        ...

    def function(self, named: Any) -> BoundFunction:
        """The library's function of a `func` attribute (a NameAttrList), ready to be called; NotFoundError without one."""
        ...

    def group(self, key: int, size: int) -> Any:
        """The `Group` of that key that the node's device is a member of, or a Waiting for it: until `size` have joined."""
        ...

    def cancelled(self) -> bool:
        """Whether the step was cancelled or ran out of time; kernels that wait ask again and again."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` once when the step is cancelled; returns the function that unregisters it."""
        ...
