"""`EagerVariable`: a variable of eager execution, and what `tf.Variable(...)` makes where. Source: TF 1.15."""

from __future__ import annotations

import itertools
from typing import Any

from tfexp.core.dtypes import DType
from tfexp.graph import tape
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_identity, state
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.slice_assign import assignable_slice
from tfexp.ops.variable_base import set_default_creator
from tfexp.ops.variable_scope import get_variable_scope
from tfexp.ops.variables import RefVariable

_numbers = itertools.count()


class EagerVariable(RefVariable):
    """A variable that has its value at once. It lives as long as something refers to it, and is in no collection.

    The arguments are those of `RefVariable`; names need not differ. `numpy()` is its value; assignments return the variable.
    """

    def _make_nodes(self, initial_value: Any, name: str | None, dtype: Any, shape: Any, validate_shape: bool) -> None:
        self._unique_id = f"{name or 'Variable'}_{next(_numbers)}"
        with name_scope(name, "Variable") as scope:
            value = initial_value() if callable(initial_value) else initial_value
            value = convert_to_tensor(value, name="initial_value", dtype=dtype)
            self._make_storage(value, scope, dtype, shape, validate_shape)
            state.assign(self._variable, value, validate_shape=validate_shape)

    @property
    def dtype(self) -> DType:
        return self._variable.dtype.base_dtype

    @property
    def initializer(self) -> Any:
        """None: it has its value."""
        return None

    @property
    def initial_value(self) -> Any:
        raise RuntimeError("initial_value not supported in EAGER mode.")

    def initialized_value(self) -> Tensor:
        return self.read_value()

    def value(self) -> Tensor:
        return self.read_value()

    def read_value(self) -> Tensor:
        """The value, as a tensor that later assignments do not change."""
        tape.variable_accessed(self)
        return array_identity.identity(self._variable)

    def __deepcopy__(self, memo: Any) -> Any:
        """A variable of its own that starts with this one's value."""
        copied = type(self)(self.numpy(), trainable=self.trainable, name=self.name.partition(":")[0], dtype=self.dtype)
        memo[id(self)] = copied
        return copied

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy scalar."""
        return self._variable.numpy()  # type: ignore[attr-defined]

    def eval(self, session: Any = None) -> Any:
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def load(self, value: Any, session: Any = None) -> None:
        self.assign(value)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Set the value. ValueError for one of another shape."""
        value = convert_to_tensor(value, dtype=self.dtype, name="value")
        self.shape.assert_is_compatible_with(value.shape)
        state.assign(self._variable, value, use_locking=use_locking)
        return self if read_value else None

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        state.assign_add(self._variable, delta, use_locking=use_locking)
        return self if read_value else None

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        state.assign_sub(self._variable, delta, use_locking=use_locking)
        return self if read_value else None

    def _scatter(self, function: Any, sparse_delta: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        function(self._variable, sparse_delta.indices, sparse_delta.values, use_locking=use_locking)
        return self

    def __getitem__(self, key: Any) -> Tensor:
        return assignable_slice(self, key)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._variable.__array__(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        return int(self.read_value())  # type: ignore[call-overload, no-any-return]

    def __float__(self) -> float:
        return float(self.read_value())  # type: ignore[arg-type]

    def __repr__(self) -> str:
        text = repr(self._variable).partition("numpy=")[2].removesuffix(">")
        return f"<tf.Variable {self.name!r} shape={self.get_shape()} dtype={self.dtype.name}, numpy={text}>"


@set_default_creator
def _make_variable(use_resource: bool | None = None, **kwargs: Any) -> RefVariable:
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
