"""What converted functions run in: `tensorflow.python.autograph.core.function_wrappers`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tfexp.autograph.feature import Feature
from tfexp.core import nest
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.stand_ins.autograph_calls import ConversionOptions
from tfexp.stand_ins.ordered_effects import AutomaticControlDependencies
from tfexp.stand_ins.translation_status import ControlStatusCtx, Status


class FunctionScope:
    """A block for the body of a function: of its name, and with its effects in order, as the options' features say."""

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions):
        self.name, self.options, self.callopts = scope_name, options, options.call_options()
        self.use_name_scope = options.uses(Feature.NAME_SCOPES)
        self.use_auto_deps = options.uses(Feature.AUTO_CONTROL_DEPS)
        self._blocks: list[Any] = [ControlStatusCtx(Status.ENABLED, options)] if options.user_requested else []
        if self.use_name_scope:
            self._blocks.append(name_scope(f"fn{function_name}" if function_name.startswith("_") else function_name))
        if self.use_auto_deps:
            self.autodeps_scope = AutomaticControlDependencies()
            self._blocks.append(self.autodeps_scope)

    def __enter__(self) -> FunctionScope:
        self._entered = contextlib.ExitStack()
        for block in self._blocks:
            self._entered.enter_context(block)
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)

    def mark_return_value(self, value: Any) -> Any:
        """What the function returns: with its effects in order, tensors that wait for them."""
        if not self.use_auto_deps or value is None:
            return value
        mark = self.autodeps_scope.mark_as_return
        return nest.map_structure(lambda leaf: mark(leaf) if isinstance(leaf, Tensor) else leaf, value)


def with_function_scope(thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions) -> Any:
    """What `thunk(scope)` gives in the block of a lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
