"""What `import tfexp` brings along, and what is found when it is first asked for. The one place that knows all stages.

At once: the registries that everything goes through (operators of tensors, what makes a variable, sessions of this process).
When first asked for: ops, by their names; sessions at servers, by their scheme; the names of `tfexp`, by its `__getattr__`.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

from tfexp.core.loading import EndedByCtrlC, is_command

with EndedByCtrlC(is_command()):  # these take most of the time
    from tfexp.graph import apply as _apply
    from tfexp.graph.defaults import set_fallback_session
    from tfexp.ops import eager_variables as _eager_variables
    from tfexp.ops import index
    from tfexp.ops import overloads as _overloads
    from tfexp.runtime import functions as _functions
    from tfexp.runtime import local as _local
    from tfexp.runtime.backend import register_on_first_use

__all__ = ["_apply", "_eager_variables", "_functions", "_local", "_overloads"]


class _Top(ModuleType):
    """`tfexp`: its name `keras` is the namespace, whoever has loaded the package that the namespace is written in."""

    @property
    def keras(self) -> Any:
        return importlib.import_module("tfexp.api.keras")

    @keras.setter
    def keras(self, package: ModuleType) -> None:
        """Importing a package sets its name in the one around it."""


sys.modules["tfexp"].__class__ = _Top
index.install()
register_on_first_use("grpc", "tfexp.distributed.server")
set_fallback_session(lambda: importlib.import_module("tfexp.keras.backend.sessions").get_session())
