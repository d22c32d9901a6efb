"""The conditionals and loops of a graph as a MetaGraph's collections hold them. Source: control_flow.proto."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "control_flow",
    """
    message ValuesDef
      values 1 repeated string
      external_values 2 map string string
    message ControlFlowContextDef
      cond_ctxt 1 CondContextDef oneof ctxt
      while_ctxt 2 WhileContextDef oneof ctxt
    message CondContextDef
      context_name 1 string
      pred_name 2 string
      pivot_name 3 string
      branch 4 int32
      values_def 5 ValuesDef
      nested_contexts 6 repeated ControlFlowContextDef
    message WhileContextDef
      context_name 1 string
      parallel_iterations 2 int32
      back_prop 3 bool
      swap_memory 4 bool
      pivot_name 5 string
      pivot_for_pred_name 6 string
      pivot_for_body_name 7 string
      loop_exit_names 8 repeated string
      loop_enter_names 10 repeated string
      values_def 9 ValuesDef
      nested_contexts 12 repeated ControlFlowContextDef
      maximum_iterations_name 11 string
    """,
)
CondContextDef = _types["CondContextDef"]
ControlFlowContextDef = _types["ControlFlowContextDef"]
ValuesDef = _types["ValuesDef"]
WhileContextDef = _types["WhileContextDef"]
