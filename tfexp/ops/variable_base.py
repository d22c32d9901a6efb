"""`tf.Variable` as a class: what all variables share, and who makes one when it is called."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tfexp.core.dtypes import as_dtype
from tfexp.core.reference import Reference
from tfexp.graph.convert import register_tensor_conversion_function
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.save_slice import SaveSliceInfo as _SaveSliceInfo


class VariableSynchronization(enum.Enum):
    """When replicas of a distributed variable are brought together. Source: `tf.VariableSynchronization`."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How replicas of a distributed variable are combined. Source: `tf.VariableAggregation`."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


# --- who makes a variable ----------------------------------------------------------------------------------------------

Creator = Callable[..., Any]


_default_creator: Creator | None = None


def set_default_creator(creator: Creator) -> Creator:
    """Install what makes a variable when no scope has another creator (`ops.variables`). Returns it, as decorators do."""
    global _default_creator
    _default_creator = creator
    return creator


class _VariableType(type):
    """Lets `tf.Variable(...)` ask the creators of the default graph; subclasses are constructed as usual."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            return _create(*args, **kwargs)
        if cls is VariableV2:
            return _create_v2(*args, **kwargs)
        return super().__call__(*args, **kwargs)


def _create(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    arguments = dict(locals())
    if _default_creator is None:
        raise RuntimeError("nothing makes variables yet; import tfexp first")
    create: Creator = _default_creator
    for _, creator in get_default_graph()._variable_creator_stack:
        create = functools.partial(creator, create)
    return create(**arguments)


def _create_v2(
    initial_value: Any = None,
    trainable: bool | None = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    return _create(**locals(), use_resource=True)


# --- the variable ------------------------------------------------------------------------------------------------------


class VariableV2(metaclass=_VariableType):
    """What all variables are; calling it makes a resource variable. Source: `tf.Variable` of TF 2.0.

    `VariableV2(initial_value, trainable, validate_shape, caching_device, name, variable_def, dtype, import_scope,
    constraint, synchronization, aggregation, shape)`.
    """

    SaveSliceInfo = _SaveSliceInfo

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable that a VariableDef describes, whose nodes are in the default graph (below `import_scope`)."""
        return Variable(variable_def=variable_def, import_scope=import_scope)


class Variable(VariableV2):
    """What all variables are (`isinstance(v, tf.Variable)`); calling it makes one.

    `tf.Variable(initial_value, trainable, collections, validate_shape, caching_device, name, variable_def, dtype,
    expected_shape, import_scope, constraint, use_resource, synchronization, aggregation, shape)`: see
    `ops.variables.RefVariable`.
    """

    __array_priority__ = 100  # so that `ndarray + variable` asks the variable

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError("tf.Variable itself has no instances: its creators make those of a subclass")

    def value(self) -> Tensor:
        """The tensor that stands for the variable in expressions."""
        raise NotImplementedError

    if TYPE_CHECKING:
        # What every kind of variable has; see `ops.variables.RefVariable`.
        @property
        def op(self) -> Any: ...
        @property
        def device(self) -> str: ...
        @property
        def dtype(self) -> Any: ...

        _save_slice_info: Any

        def _ref(self) -> Tensor: ...
        def initialized_value(self) -> Tensor: ...
        def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any: ...

    def _AsTensor(self) -> Tensor:
        return self.value()

    def experimental_ref(self) -> Reference:
        """What stands for this variable in sets and as a key. Source: `tf.Variable.experimental_ref`."""
        return Reference(self)

    _strategy: Any = None
    _distributed_container: Any = None  # the variable that it is one copy of, for a strategy's replicas

    @property
    def _every_copy(self) -> Sequence[Any]:
        """The variables with nodes of their own that it is: itself, unless a strategy keeps copies."""
        return (self,)

    @property
    def _distribute_strategy(self) -> Any:
        """The distribution strategy in whose scope it was made; None outside of all."""
        return self._strategy

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    __hash__ = object.__hash__


def node_name(variable: Any) -> str:
    """The name of a variable's or a tensor's node; also of a variable of eager execution, which has no `op`."""
    made_at_once = hasattr(variable, "_shared_name") and not hasattr(variable, "op")
    return str(variable._shared_name if made_at_once else variable.op.name)


def graph_of(variable: Any) -> Any:
    """The graph of a variable's or a tensor's node; also of a variable of eager execution, which has no `graph`."""
    return variable.graph if hasattr(variable, "graph") else variable._ref()._graph


def _bind_operators() -> None:
    """Arithmetic on variables is arithmetic on their values."""

    def bind(name: str) -> None:
        def operate(self: Variable, *args: Any) -> Any:
            return getattr(Tensor, name)(self.value(), *args)

        operate.__name__ = name
        setattr(Variable, name, operate)

    binary = ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
    for name in binary:
        bind(f"__{name}__")
        bind(f"__r{name}__")
    for name in ("neg", "abs", "invert", "lt", "le", "gt", "ge"):
        bind(f"__{name}__")


_bind_operators()


def _to_tensor(value: Variable, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    variable: Any = value
    if dtype is not None and not as_dtype(dtype).is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {as_dtype(dtype).name!r} for variable of type "
            f"{variable.dtype.name!r}"
        )
    return variable._ref() if as_ref else variable.value()


register_tensor_conversion_function(Variable, _to_tensor)
