"""Functions that make their variables once and share them between calls. Source: `tf.make_template`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection, get_default_graph
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_base import node_name
from tfexp.ops.variable_scope import AUTO_REUSE, VariableScope, variable_scope
from tfexp.ops.variable_store import eager_store


class Template(Trackable):
    """A function that is called in a variable scope of its own, which all calls after the first reuse.

    In eager execution no graph keeps its variables: it does, in a store that it shares with the templates that it makes.
    Checkpoints find them by their names in the scope.
    """

    _says_what_is_new = False  # variables come from `get_variable`

    def __init__(
        self, name: str, function: Callable[..., Any], create_scope_now: bool, unique_name: str | None, custom_getter: Any
    ):
        self._name, self._function, self._unique_name = name, function, unique_name
        self._custom_getter = custom_getter
        self._store = eager_store()
        self._variable_scope: VariableScope | None = None
        self._variables_created = False
        if create_scope_now:
            with variable_scope(unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self._variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with contextlib.nullcontext() if self._store is None else self._store.as_default():
            if self._variable_scope is None:
                with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
                    self._variable_scope = scope
                    return self._call(args, kwargs)
            with variable_scope(self._variable_scope, reuse=self._variables_created if self._store is None else AUTO_REUSE):
                return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        before = len(self._all_trainable())
        result = self._function(*args, **kwargs)
        trainable = self._all_trainable()
        if self._variables_created and len(trainable) > before:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps you used tf.Variable "
                f"when you meant tf.get_variable: {trainable[before:]}"
            )
        self._variables_created = True
        return result

    def _all_trainable(self) -> list[Any]:
        if self._store is None:
            return get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        return self._store.trainable_variables()

    @property
    def name(self) -> str:
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        return self._function

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None before the first call."""
        return self._variable_scope

    var_scope = variable_scope  # its old name

    @property
    def variable_scope_name(self) -> str | None:
        """What the names of its variables begin with: that scope's name, and a slash unless it ends in one or is empty."""
        name = None if self._variable_scope is None else self._variable_scope.name
        return f"{name}/" if name and not name.endswith("/") else name

    def _collected(self, key: str) -> list[Any]:
        """Its variables of a collection; what the store has stands for these in eager execution, where none is local."""
        prefix = self.variable_scope_name
        if prefix is None:
            return []
        if self._store is None:
            return get_collection(key, prefix or None)
        if key == GraphKeys.LOCAL_VARIABLES:
            return []
        found = self._all_trainable() if key == GraphKeys.TRAINABLE_VARIABLES else self._store.variables()
        return [variable for variable in found if variable.name.startswith(prefix)]

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        prefix = self.variable_scope_name or ""
        return [(node_name(variable).removeprefix(prefix), variable) for variable in self.variables]

    @property
    def trainable_variables(self) -> list[Any]:
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self) -> list[Any]:
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = self.trainable_variables
        return [v for v in self.variables if not any(v is t for t in trainable)]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """`func_`, with `kwargs` bound, as a Template whose variables live in the scope `name_`, made unique, or `unique_name_`.

    Each call names its operations anew. ValueError without a name, and when a later call makes a trainable variable.
    `tf.make_template`.
    """
    if name_ is None:
        raise ValueError("name cannot be None.")
    function = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)
