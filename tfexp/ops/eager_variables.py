"""`EagerVariable`: a variable of eager execution, and what `tf.Variable(...)` makes where. Source: TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph import tape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import meaningless, value_as_text
from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.graph.surroundings import check_scope_name
from tfexp.graph.tensor import Tensor
from tfexp.ops import resource_state
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.slice_assign import assignable_slice
from tfexp.ops.variable_base import set_default_creator
from tfexp.ops.variable_scope import get_variable_scope
from tfexp.ops.variables import RefVariable

_numbers = itertools.count()
_listeners: list[Callable[[Any], None]] = []


class EagerVariable(ResourceVariable):
    """A variable that has its value at once. It lives as long as something refers to it, and is in no collection.

    The arguments are those of `RefVariable`; names need not differ. `numpy()` is its value; assignments give it under
    another name. While a function is built it is captured by its handle, as every resource variable.
    """

    def _make_nodes(self, initial_value: Any, name: str | None, dtype: Any, shape: Any, validate_shape: bool) -> None:
        self._number = next(_numbers)
        self._unique_id = f"{name or 'Variable'}_{self._number}"
        with name_scope(name, "Variable") as scope:
            value = initial_value() if callable(initial_value) else initial_value
            value = convert_to_tensor(value, name="initial_value", dtype=dtype)
            self._shape = as_shape(shape) if shape is not None else value.shape if validate_shape else TensorShape(None)
            self._dtype = value.dtype.base_dtype
            check_scope_name(scope)
            self._handle = resource_state.var_handle_op(shape=self._shape, dtype=self._dtype, name=scope)
            self._initial_value = self._initializer_op = None  # type: ignore[assignment]  # there is nothing left to do
            resource_state.assign_variable_op(self._handle, value)
        for listener in _listeners:
            listener(self)

    op = meaningless("op")
    graph = meaningless("graph")

    def _as_graph_element(self) -> Tensor:
        return self._read()

    @property
    def initializer(self) -> Any:
        """None: it has its value."""
        return None

    @property
    def create(self) -> Any:
        raise RuntimeError("Calling create is not supported when eager execution is enabled.")

    @property
    def initial_value(self) -> Any:
        raise RuntimeError("initial_value not supported in EAGER mode.")

    def initialized_value(self) -> Tensor:
        return self.read_value()

    def _read(self) -> Tensor:
        tape.variable_accessed(self)
        value: Tensor = resource_state.read_variable_op(self._handle, dtype=self._dtype)
        return value

    def value(self) -> Tensor:
        return self._read()

    def read_value(self) -> Tensor:
        """The value, as a tensor that later assignments do not change."""
        return self._read()

    def __deepcopy__(self, memo: Any) -> Any:
        """A variable of its own that starts with this one's value."""
        copied = EagerVariable(self.numpy(), trainable=self.trainable, name=self._shared_name, dtype=self.dtype)
        memo[id(self)] = copied
        return copied

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy scalar."""
        return self._handle.numpy()  # type: ignore[attr-defined]

    def eval(self, session: Any = None) -> Any:
        raise RuntimeError("Trying to eval in EAGER mode")

    def to_proto(self, export_scope: str | None = None) -> Any:
        raise RuntimeError("to_proto not supported in EAGER mode.")

    def load(self, value: Any, session: Any = None) -> None:
        self.assign(value)

    def _lazy_read(self, op: Any) -> Any:
        """The variable under another name: whoever reads it from here on sees the assignment. In functions, as in graphs."""
        return EagerUnreadVariable._of(self) if executing_eagerly() else super()._lazy_read(op)

    def __getitem__(self, key: Any) -> Tensor:
        return assignable_slice(self, key)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._handle.__array__(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        return int(self.read_value())  # type: ignore[call-overload, no-any-return]

    def __float__(self) -> float:
        return float(self.read_value())  # type: ignore[arg-type]

    def __repr__(self) -> str:
        text = value_as_text(self._handle, repr)
        return f"<tf.Variable {self.name!r} shape={self.get_shape()} dtype={self.dtype.name}, numpy={text}>"


class EagerUnreadVariable(EagerVariable):
    """A variable after its assignment: the same handle and settings, and where graphs have the assignment's node, None."""

    @classmethod
    def _of(cls, variable: EagerVariable) -> EagerUnreadVariable:
        unread = cls.__new__(cls)
        unread.__dict__ = variable.__dict__
        return unread

    @property
    def name(self) -> str:
        return "UnreadVariable"

    op = None


@set_default_creator
def make_variable(use_resource: bool | None = None, **kwargs: Any) -> RefVariable:
    """The variable of these arguments: of eager execution, behind a handle, or a reference."""
    if executing_eagerly():
        return EagerVariable(**kwargs)
    variable_def = kwargs.get("variable_def")
    if variable_def is not None:
        use_resource = variable_def.is_resource
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    return ResourceVariable(**kwargs) if use_resource else RefVariable(**kwargs)


_by_default = False


def enable_resource_variables() -> None:
    """From here on, variables that do not say otherwise are behind handles. Source: `tf.enable_resource_variables`."""
    global _by_default
    _by_default = True


def disable_resource_variables() -> None:
    """The opposite of `enable_resource_variables`. Source: `tf.disable_resource_variables`."""
    global _by_default
    _by_default = False


def resource_variables_enabled() -> bool:
    """Whether variables that do not say otherwise are behind handles. Source: `tf.resource_variables_enabled`."""
    return _by_default
