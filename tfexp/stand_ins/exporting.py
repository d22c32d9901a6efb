"""`tensorflow.python.util.tf_export` and `.all_util`: what declares TensorFlow's public names. Here that changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any


def tf_export(*args: str, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a symbol as it is."""

    def unchanged(symbol: Any) -> Any:
        return symbol

    return unchanged


keras_export = estimator_export = tf_export


def get_v1_names(symbol: Any) -> list[str]:
    """No symbol of a program is published."""
    return []


get_v2_names = get_v1_names


def make_all(module_name: str, doc_string_modules: Sequence[Any] | None = None) -> list[str]:
    """The names of a module that do not begin with an underscore."""
    return sorted(name for name in vars(sys.modules[module_name]) if not name.startswith("_"))


def remove_undocumented(
    module_name: str, allowed_exception_list: Sequence[str] | None = None, doc_string_modules: Sequence[Any] | None = None
) -> None:
    """Modules keep all their names."""


def reveal_undocumented(symbol_name: str, target_module: Any = None) -> None:
    """Nothing was hidden."""
