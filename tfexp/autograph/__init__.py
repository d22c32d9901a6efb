"""AutoGraph: functions whose control flow depends on tensors, as functions that build graphs. `tf.autograph`, TF 1.15.

`conversion.convert` finds the `def` of a function (`source`), takes the jumps out of it (`jumps`), and turns its branches
and loops into calls (`transformer`) of `operators`, which decide at run time what is Python's and what the graph's. The
compiled code has the file and the lines of the original, so that tracebacks, debuggers and nodes show the program's lines.
"""

from tfexp.autograph.conversion import convert as convert
