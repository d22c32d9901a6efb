"""Whether the last update reached all variables: what tells whoever comes after a client that was killed while it updated.

An update says that it begins before it changes the first variable; that it has ended, the global step says, which it changes
last. All is written on the global step's server, and outlives clients.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import device
from tfexp.ops import state
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.variables import Variable

__all__ = ["WholeUpdates"]


class WholeUpdates:
    """Of updates that add one to `global_step`, of which one is made at a time. The nodes that a client runs:

    - `known`: whether anything has been written down since the server was started
    - `torn`: whether an update has begun that did not end
    - `doubt`: from here on `torn` holds, whatever the step, until
    - `settle`: all variables are those of the global step
    """

    def __init__(self, global_step: Any):
        self._global_step = global_step
        with device(global_step.device):
            begun: Any = Variable(0, trainable=False, collections=[], dtype=dtypes.int64, name="update_begun")
            self._begun = begun._ref()
            self.known = state.is_variable_initialized(self._begun)
            self.torn = not_equal(begun, cast(global_step, dtypes.int64))
            self.doubt = state.assign(self._begun, -1).op
            self.settle = state.assign(self._begun, cast(global_step, dtypes.int64)).op

    def begin(self) -> Any:
        """A node that says that the update begins. What changes variables must wait for it, and it for all that may fail."""
        with device(self._global_step.device):
            return state.assign(self._begun, cast(self._global_step.read_value(), dtypes.int64) + 1)
