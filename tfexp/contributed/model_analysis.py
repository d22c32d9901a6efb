"""Profiles of graphs and of runs, under their older names. Source: `tf.contrib.tfprof.model_analyzer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.profiler import ProfileOptionBuilder, profiler

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()
PRINT_ALL_TIMING_MEMORY = ProfileOptionBuilder.time_and_memory(min_micros=1, min_bytes=1)


def print_model_analysis(
    graph: Graph | None,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] | int = 0,
) -> Any:
    """`tf.profiler.profile`, with options that may be one of those above; 0: its own."""
    return profiler.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


def advise(graph: Graph | None, run_meta: Any = None, tfprof_options: Mapping[str, Any] | int = 0) -> Any:
    """`tf.profiler.advise`, with options that say what of; 0: of everything."""
    return profiler.advise(graph, run_meta, tfprof_options)
