"""AutoGraph: functions whose control flow depends on tensors, as functions that build graphs. `tf.autograph`, TF 1.15.

`conversion.convert` finds the `def` of a function (`source`), takes the jumps out of it (`jumps`), turns its branches and
loops into calls (`transformer`) and compiles it (`compilation`). It calls `operators`, which decide at run time what is
Python's and what the graph's (`branches`, `loops`). The compiled code has the file and the lines of the original, so that
tracebacks, debuggers and nodes show the program's lines.
"""

from typing import TYPE_CHECKING

from tfexp.autograph import experimental as experimental
from tfexp.autograph.conversion import convert as convert
from tfexp.autograph.verbosity import set_verbosity as set_verbosity
from tfexp.autograph.verbosity import trace as trace
from tfexp.core.gone import namespace

if TYPE_CHECKING:  # imported on first use
    from tfexp.autograph.inspection import to_code as to_code
    from tfexp.autograph.inspection import to_graph as to_graph

__getattr__, __dir__ = namespace("tf.autograph", __name__)
