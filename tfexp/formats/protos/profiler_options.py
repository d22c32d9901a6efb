"""What `tf.profiler` is asked for. Source: tfprof_options.proto."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "tfprof_options",
    """
    message OptionsProto
      max_depth 1 int64
      min_bytes 2 int64
      min_peak_bytes 19 int64
      min_residual_bytes 20 int64
      min_output_bytes 21 int64
      min_micros 3 int64
      min_accelerator_micros 22 int64
      min_cpu_micros 23 int64
      min_params 4 int64
      min_float_ops 5 int64
      min_occurrence 17 int64
      step 18 int64
      order_by 7 string
      account_type_regexes 8 repeated string
      start_name_regexes 9 repeated string
      trim_name_regexes 10 repeated string
      show_name_regexes 11 repeated string
      hide_name_regexes 12 repeated string
      account_displayed_op_only 13 bool
      select 14 repeated string
      output 15 string
      dump_to_file 16 string
    message AdvisorOptionsProto
    message AdvisorOptionsProto.CheckerOption
      options 1 map string string
    message AdvisorOptionsProto
      checkers 1 map string AdvisorOptionsProto.CheckerOption
    """,
)
OptionsProto = _types["OptionsProto"]
AdvisorOptionsProto = _types["AdvisorOptionsProto"]
