"""RunOptions that say which outputs of which nodes are dumped, and where to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor

_FED = ("*", -1)  # stands for what the runtime adds to the graph: the nodes that bring fed values


def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Let a run with `run_options` (which are changed) apply `debug_ops` to one output and dump the results.

    `debug_ops`: DebugIdentity, DebugNanCount, DebugNumericSummary; what does not take an output's dtype is left out.
    `debug_urls`: `file://` and a folder. Source: `tf_debug.add_debug_tensor_watch`.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add(node_name=node_name, output_slot=output_slot)
    watch.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures
    watch.debug_ops.extend(_listed(debug_ops))
    watch.debug_urls.extend(_listed(debug_urls))


def watch_graph(
    run_options: Any,
    graph: Graph,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watch the outputs in `graph` whose node's name, node's type and dtype match: each the pattern that is given for it.

    ValueError without `debug_ops` or `debug_urls`. Source: `tf_debug.watch_graph`.
    """
    patterns = _patterns(node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    outputs = _outputs(graph, lambda matches: all(matches), patterns)
    if not any(patterns):
        outputs.append(_FED)
    _watch(run_options, outputs, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options: Any,
    graph: Graph,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watch the outputs in `graph` but for those whose node's name, node's type or dtype matches the pattern.

    ValueError without `debug_ops` or `debug_urls`. Source: `tf_debug.watch_graph_with_blacklists`.
    """
    patterns = _patterns(node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    outputs = _outputs(graph, lambda matches: not any(matches), patterns)
    _watch(run_options, outputs, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


_Patterns = tuple[re.Pattern[str] | None, ...]


def _patterns(*texts: str | None) -> _Patterns:
    return tuple(re.compile(text) if text else None for text in texts)


def _outputs(graph: Graph, wanted: Callable[[list[bool]], bool], patterns: _Patterns) -> list[tuple[str, int]]:
    """The outputs for which `wanted` says yes to what the given patterns (of name, type, dtype) make of them."""

    def matches(tensor: Tensor) -> list[bool]:
        texts = (tensor.op.name, tensor.op.type, tensor.dtype.name)
        return [bool(pattern.match(text)) for pattern, text in zip(patterns, texts, strict=True) if pattern]

    return [(op.name, i) for op in graph.get_operations() for i, t in enumerate(op.outputs) if wanted(matches(t))]


def _watch(
    run_options: Any, outputs: list[tuple[str, int]], debug_ops: Any, debug_urls: Any, tolerate: bool, global_step: int
) -> None:
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    for node, slot in outputs:
        add_debug_tensor_watch(run_options, node, slot, debug_ops, debug_urls, tolerate, global_step)


def _listed(values: str | Sequence[str] | None) -> list[str]:
    return [values] if isinstance(values, str) else list(values or ())
