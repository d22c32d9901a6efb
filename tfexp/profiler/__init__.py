"""What a graph costs, from its shapes and from traced steps: parameters, float operations, time, memory. `tf.profiler`.

A profile is made in four steps, each in its file:

    nodes     the graph's nodes with what is known of each, and what traced steps (`RunMetadata`) measured
    views     rows of a tree: by name scope, by data flow, by line of the program; and a list by op type
    display   which rows are shown, in which order, and what they add up to (`options` says how)
    report    the rows as text; protos, pprof and traces have files of their own

The reports have TensorFlow's layout, row for row (`tests/golden/profile_cases.py`).
"""

from tfexp.core.gone import missing_from
from tfexp.formats.protos.profiler import AdviceProto as AdviceProto
from tfexp.formats.protos.profiler import GraphNodeProto as GraphNodeProto
from tfexp.formats.protos.profiler import MultiGraphNodeProto as MultiGraphNodeProto
from tfexp.formats.protos.profiler import OpLogProto as OpLogProto
from tfexp.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from tfexp.profiler.profiler import Profiler as Profiler
from tfexp.profiler.profiler import advise as advise
from tfexp.profiler.profiler import profile as profile
from tfexp.profiler.profiler import write_op_log as write_op_log

__getattr__ = missing_from("tf.profiler")
