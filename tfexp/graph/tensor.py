"""`Tensor`: one output of an `Operation`. Its arithmetic is bound by `ops.overloads`. Source: `tf.Tensor`, TF 1.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tfexp.core.dtypes import DType
from tfexp.core.errors import OperatorNotAllowedInGraphError
from tfexp.core.merged_shape import merged
from tfexp.core.reference import Reference
from tfexp.core.shape import TensorShape, as_shape

if TYPE_CHECKING:
    from tfexp.graph.graph import Graph
    from tfexp.graph.operation import Operation


class Tensor:
    """A symbolic handle: no value, but a dtype, a static shape (perhaps partly unknown) and a name `op:index`."""

    __slots__ = ("__dict__", "__weakref__", "_consumers", "_dtype", "_op", "_shape", "_static_value", "_value_index")
    _claimed = False  # whether its shape is more than what follows from its op's inputs
    _static_value: Any  # set by graph.shape_inference once it is known
    __array_priority__ = 100  # so that `ndarray + tensor` asks the tensor
    OVERLOADABLE_OPERATORS: ClassVar[set[str]]  # the names of the methods that `ops.overloads` binds, and of `==` and `!=`

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: TensorShape):
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape = shape
        self._consumers: list[Operation] = []

    @property
    def op(self) -> Operation:
        return self._op

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def graph(self) -> Graph:
        return self._op.graph

    @property
    def _graph(self) -> Graph:
        """As `graph`, of tensors that have values too."""
        return self._op.graph

    @property
    def name(self) -> str:
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def value_index(self) -> int:
        """Which output of `op` this is."""
        return self._value_index

    def _as_node_def_input(self) -> str:
        """How a NodeDef that takes the tensor names it."""
        return self._op.name if self._value_index == 0 else self.name

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        """The sizes, or None where not even their number is known. Programs written for 1.15 ask for them so."""
        return None if self.shape.ndims is None else tuple(self.shape.as_list())

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into what is known; ValueError when the two contradict each other."""
        self._shape = merged(self._shape, as_shape(shape))
        self._claimed = True
        self._op.graph._shapes_changed()

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, in creation order: one is there for each time that it does."""
        return list(self._consumers)

    def experimental_ref(self) -> Reference:
        """What stands for this tensor in sets and as a key. Source: `tf.Tensor.experimental_ref`."""
        return Reference(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Run the graph for this tensor in `session` (the default session if None); a NumPy value."""
        return self.graph._session_for(session, "evaluate tensor", "eval").run(self, feed_dict)

    def __str__(self) -> str:
        shape = "" if self._shape.ndims is None else f", shape={self._shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self._shape} dtype={self._dtype.name}>"

    # Identity, at C speed: tensors are keys in every `Session.run`.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __iter__(self) -> Any:
        raise OperatorNotAllowedInGraphError(
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager execution or decorate this function "
            f"with @tf.function. To iterate over {self.name} in a graph use tf.map_fn."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather than `len(x)` for "
            "shape information."
        )

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            f"using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution ({self.name}). Use "
            "`if t is not None:` instead of `if t:` to test if a tensor is defined, and TensorFlow ops such as tf.cond to "
            "execute subgraphs that depend on the value of a tensor."
        )

    __nonzero__ = __bool__  # Python 2's name, which programs of those days copy

    if TYPE_CHECKING:
        # What `ops.overloads` binds.
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array: run it in a session first."
        )
