"""`tf.variable_scope` and `tf.get_variable`: variables that are shared by name, and settings that scopes hand down.

A variable scope has a name, which prefixes the names of `get_variable`'s variables, and defaults for its arguments. Opening
one also opens a name scope, which prefixes the names of operations; the two names part where a scope is opened again.
Source: TF 1.15.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_collection, get_default_graph, graph_of, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization
from tfexp.ops.variable_store import Request, VariableStore, variable_store


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
"""`reuse=tf.AUTO_REUSE`: `get_variable` makes the variable where there is none and shares it where there is one."""


class VariableScope:
    """The name and the settings that `get_variable` uses; `tf.get_variable_scope()` gives the current one.

    name: the prefix of variables. original_name_scope: the name scope (with a slash) that was opened with it first.
    reuse: True (variables must exist), AUTO_REUSE, or False or None (they must not).
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
    ):
        self._name, self._name_scope = name, name_scope
        # Eager variables live as long as somebody holds them: only an EagerVariableStore has any to share.
        self._reuse = AUTO_REUSE if executing_eagerly() else reuse
        self._initializer, self._regularizer, self._constraint = initializer, regularizer, constraint
        self._caching_device, self._partitioner, self._custom_getter = caching_device, partitioner, custom_getter
        self._dtype, self._use_resource = dtype, use_resource

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        return self._constraint

    def reuse_variables(self) -> None:
        """From now on, variables of this scope must exist already."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """What is in the collection and lies below this scope."""
        return get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Sequence[Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """As `tf.get_variable`, in this scope."""
        if initializer is not None and not callable(initializer) and dtype is not None:
            _check_dtype(initializer, dtypes.as_dtype(dtype))
        request = Request(
            name=f"{self._name}/{name}" if self._name else name,
            shape=shape,
            dtype=_first(dtype, self._dtype),
            initializer=_first(initializer, self._initializer),
            regularizer=_first(regularizer, self._regularizer),
            reuse=AUTO_REUSE if executing_eagerly() else _first(reuse, self._reuse),
            trainable=synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable,
            collections=collections,
            caching_device=_first(caching_device, self._caching_device),
            partitioner=_first(partitioner, self._partitioner),
            validate_shape=validate_shape,
            use_resource=_first(use_resource, self._use_resource),
            constraint=_first(constraint, self._constraint),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        # The variable's name is the whole prefix: the name scopes around have no part in it.
        with name_scope(None):
            return var_store.get(request, _first(custom_getter, self._custom_getter))

    def _get_partitioned_variable(
        self, name: str | None, dtype: Any = None, initializer: Any = None, **arguments: Any
    ) -> Any:
        """The parts of a variable named like the scope, or below it."""
        request = Request(
            name="/".join(part for part in (self._name, name) if part),
            dtype=_first(dtype, self._dtype),
            initializer=_first(initializer, self._initializer),
            regularizer=self._regularizer,
            reuse=self._reuse,
            caching_device=self._caching_device,
            use_resource=self._use_resource,
            constraint=self._constraint,
            **arguments,
        )
        with name_scope(None):
            return variable_store().get_partitioned(request)


def _first(value: Any, default: Any) -> Any:
    return default if value is None else value


def _check_dtype(initializer: Any, dtype: Any) -> None:
    if isinstance(initializer, (Tensor, Variable)):
        found = initializer.dtype.base_dtype  # type: ignore[union-attr]
    else:
        with Graph().as_default():
            found = convert_to_tensor(initializer).dtype.base_dtype
    if found is not dtype.base_dtype:
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")


# --- which scope is current --------------------------------------------------------------------------------------------


class _Scopes(threading.local):
    """A graph's current scope in this thread, and how often each scope was opened (for `default_name`)."""

    def __init__(self) -> None:
        self.current = VariableScope(False)
        self.opened: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.opened[name] = self.opened.get(name, 0) + 1

    def close_inner(self, name: str | None) -> None:
        """The scopes inside (None: all) start anew when `name` is opened again."""
        for key in self.opened:
            if name is None or key.startswith(name + "/"):
                self.opened[key] = 0

    def unique(self, prefix: str) -> str:
        """`prefix`, or `prefix_1`, …: the first that has not been opened in the current scope."""
        outer = self.current.name + "/" if self.current.name else ""
        name, count = prefix, 0
        while self.opened.get(outer + name, 0) > 0:
            count += 1
            name = f"{prefix}_{count}"
        return name


_SCOPES = ("variable scopes",)


def scopes_of_graph() -> _Scopes:
    """The scopes of the default graph."""
    # Kept as `ops.variable_store` keeps the variables.
    kept = get_default_graph().outermost.get_collection_ref(_SCOPES)
    if not kept:
        kept.append(_Scopes())
    scopes: _Scopes = kept[0]
    return scopes


def get_variable_scope() -> VariableScope:
    """The current variable scope of the default graph."""
    return scopes_of_graph().current


class variable_scope:  # noqa: N801 (TensorFlow's name)
    """`with tf.variable_scope(name_or_scope, default_name, values, …) as scope:` opens a variable scope and a name scope.

    A string opens `<current>/<string>` and takes over the current scope's settings; a VariableScope opens that very scope,
    wherever it is used, with its own settings. `default_name` is made unique, where `name_or_scope` is None. Other
    arguments override settings. `reuse`: True, AUTO_REUSE, or None or False, which leave the inherited mode.
    `auxiliary_name_scope=False`: names of operations stay in the current name scope. Source: `tf.variable_scope`, TF 1.15.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not (name_or_scope is None or isinstance(name_or_scope, (str, VariableScope))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not any(reuse is mode for mode in (True, False, None, AUTO_REUSE)):
            raise ValueError("The reuse parameter must be True or False or None.")
        if reuse is True and name_or_scope is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._name_or_scope, self._default_name = name_or_scope, default_name
        self._values = values
        self._reuse = reuse or None
        self._auxiliary_name_scope = auxiliary_name_scope
        self._custom_getter = custom_getter
        self._settings = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._open: list[tuple[_Scopes, VariableScope, contextlib.ExitStack]] = []

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as stack:
            stack.enter_context((get_default_graph() if self._values is None else graph_of(self._values)).as_default())
            scopes = scopes_of_graph()
            name = self._name_or_scope
            if name is None:
                # The name scope first: it is made unique on its own.
                opened = self._enter_name_scope(stack, self._default_name)
                name = scopes.unique(str(self._default_name))
            else:
                opened = self._enter_name_scope(stack, name)
            scope = stack.enter_context(self._entered(scopes, name, opened))
            self._open.append((scopes, scope, stack.pop_all()))
        return scope

    def __exit__(self, *exc: Any) -> Any:
        scopes, scope, stack = self._open[-1]
        if scopes.current is not scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._open.pop()
        return stack.__exit__(*exc)

    def _enter_name_scope(self, stack: contextlib.ExitStack, name_or_scope: Any) -> str:
        """Open the name scope; returns its name, `""` for a variable scope without name, which opens none."""
        is_scope = isinstance(name_or_scope, VariableScope)
        # Of a scope that is opened again, only the last part names operations.
        name = name_or_scope.name.split("/")[-1] if is_scope else name_or_scope
        if not self._auxiliary_name_scope:
            current = get_default_graph().get_name_scope()
            return current + "/" if current else ""
        return str(stack.enter_context(name_scope(name))) if name else ""

    @contextlib.contextmanager
    def _entered(
        self, scopes: _Scopes, name_or_scope: str | VariableScope, opened_name_scope: str
    ) -> Iterator[VariableScope]:
        old = scopes.current
        if isinstance(name_or_scope, VariableScope):
            inherited, name, original = name_or_scope, name_or_scope.name, name_or_scope.original_name_scope
            constraint, reuse = inherited.constraint, self._reuse or inherited.reuse
        else:
            inherited = old
            name = f"{old.name}/{name_or_scope}" if old.name else name_or_scope
            original, constraint, reuse = opened_name_scope, None, self._reuse or old.reuse
        settings = {key: _first(value, getattr(inherited, key)) for key, value in self._settings.items()}
        settings["constraint"] = _first(self._settings["constraint"], constraint)
        getter = _wrapped(self._custom_getter, inherited.custom_getter)
        scope = VariableScope(reuse, name=name, name_scope=original, custom_getter=getter, **settings)
        scopes.open(name)
        opened_before = dict(scopes.opened)
        scopes.current = scope
        try:
            yield scope
        finally:
            scopes.close_inner(name)
            if isinstance(name_or_scope, VariableScope):
                scopes.opened = opened_before
            scopes.current = old


def _wrapped(custom_getter: Callable[..., Any] | None, outer: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The inner custom getter, whose getter is the outer one."""
    if custom_getter is None or outer is None:
        return outer if custom_getter is None else custom_getter

    def getter_of_both(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return custom_getter(functools.partial(outer, getter), *args, **kwargs)

    return getter_of_both


@contextlib.contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Callable[[Any], Any] | None = None,
) -> Iterator[Any]:
    """The spelling of `variable_scope` before it took `values`. Source: `tf.variable_op_scope`."""
    with variable_scope(**locals()) as scope:
        yield scope


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool | None = None,
    collections: Sequence[Any] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """The variable of that name in the current scope: made or shared, as the scope's `reuse` says.

    initializer: an object or function `(shape, dtype[, partition_info])`; a function without arguments or a value, and then
    without `shape`. Default: the scope's, else Glorot's uniform for floats and zeros for integers. regularizer: its result
    on a new variable joins REGULARIZATION_LOSSES. partitioner: makes a PartitionedVariable. custom_getter(getter, name, …)
    is called instead and may change the arguments. ValueError, naming both sides, where a variable exists or is missing
    against `reuse`, and where shape or dtype differ from an existing one's. Source: `tf.get_variable`, TF 1.15.
    """
    arguments = dict(locals())
    return get_variable_scope().get_variable(variable_store(), **arguments)


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = False,
    collections: Sequence[Any] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """As `get_variable`, in LOCAL_VARIABLES and not trainable. Source: `tf.get_local_variable`, TF 1.15."""
    arguments = dict(locals(), trainable=False, collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES])
    return get_variable(**arguments)
