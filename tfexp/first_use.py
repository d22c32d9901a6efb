"""Installs the registries that every graph goes through, when tfexp is imported. The one module that knows all stages.

At once: operators of tensors, variables. When first asked for: ops, by their names, and sessions, by the scheme of their
target (none: in this process).
"""

from tfexp.graph import apply as _apply
from tfexp.ops import eager_variables as _eager_variables
from tfexp.ops import index
from tfexp.ops import overloads as _overloads
from tfexp.runtime.backend import register_on_first_use

__all__ = ["_apply", "_eager_variables", "_overloads"]

index.install()
register_on_first_use("", "tfexp.runtime.functions")
register_on_first_use("grpc", "tfexp.distributed.server")
