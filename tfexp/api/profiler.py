"""`tf.profiler`: what a graph costs. Re-exports."""

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
