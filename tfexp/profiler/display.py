"""Which rows of a profile are shown, in which order, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tfexp.profiler.measures import Measures, total
from tfexp.profiler.options import Options, matches
from tfexp.profiler.views import ROOT, Row

_ORDERED_BY = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}

# Minima that a row reaches together with the rows below it; and those that a node has to reach by itself.
_OF_TOTALS = {
    "min_bytes": "requested_bytes",
    "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes",
    "min_output_bytes": "output_bytes",
    "min_micros": "exec_micros",
    "min_accelerator_micros": "accelerator_exec_micros",
    "min_cpu_micros": "cpu_exec_micros",
}
_OF_NODES = {"min_params": "parameters", "min_float_ops": "float_ops"}


def _reaches(options: Options, minima: dict[str, str], measures: Measures) -> bool:
    return all(getattr(measures, name) >= getattr(options, option) for option, name in minima.items())


def _is_shown(row: Row, options: Options) -> bool:
    """By its name and its measures. What stands for many nodes goes by its total and occurs as often as it has nodes."""
    occurs = len(row.nodes) if row.node is None and row.nodes else row.own.run_count
    return (
        not row.passed_by
        and matches(options.show_name_regexes, row.name)
        and not matches(options.hide_name_regexes, row.name)
        and _reaches(options, _OF_TOTALS, row.total)
        and _reaches(options, _OF_NODES, row.total if row.nodes else row.own)
        and occurs >= options.min_occurrence
    )


def shown_tree(root: Row, options: Options) -> Row:
    """The root with the rows that are shown; what is below a row that is not shown takes its place."""
    starts = _starts(root.children, options)
    rows = _in_order((found for row in _in_order(starts, options) for found in _shown(row, options, depth=1)), options)
    if options.account_displayed_op_only:
        whole = Measures(definition_count=1) + total(row.total for row in rows)
    else:
        whole = root.total
    return replace(root, children=rows, total=whole)


def _starts(rows: Iterable[Row], options: Options) -> list[Row]:
    """The topmost rows whose names are to start with."""
    found: list[Row] = []
    pending = list(rows)
    for row in pending:
        if matches(options.start_name_regexes, row.name):
            found.append(row)
        else:
            pending.extend(row.children)
    return found


def _shown(top: Row, options: Options, depth: int) -> list[Row]:
    """A row with the rows below it that are shown, or these alone. No recursion: graphs are deeper than Python's stack."""
    results: dict[Row, list[Row]] = {}
    pending = [(top, depth, False)]
    while pending:
        row, level, is_done_below = pending.pop()
        goes_on = level + 1 < options.max_depth and not matches(options.trim_name_regexes, row.name)
        below = _in_order(row.children, options) if goes_on else []
        if not is_done_below:
            pending.append((row, level, True))
            pending.extend((child, level + 1, False) for child in below)
            continue
        rows = _in_order((found for child in below for found in results.pop(child)), options)
        if level < options.max_depth and _is_shown(row, options):
            whole = row.own + total(child.total for child in rows) if options.account_displayed_op_only else row.total
            rows = [replace(row, children=rows, total=whole)]
        results[row] = rows
    return results[top]


def _in_order(rows: Iterable[Row], options: Options) -> list[Row]:
    """By name, or the largest total first; rows that are the same in this stay as they are."""
    measure = _ORDERED_BY.get(options.order_by)
    if measure is None:
        return sorted(rows, key=lambda row: row.name)
    return sorted(rows, key=lambda row: getattr(row.total, measure), reverse=True)


def shown_list(rows: list[Row], options: Options) -> Row:
    """Op types in order, below a root with what they add up to. A row's total is its own and that of the rows after it.

    The list begins with the first name to start with and ends before the first to trim.
    """
    rows = sorted(rows, key=lambda row: row.name)
    if options.order_by == "occurrence":
        rows.sort(key=lambda row: len(row.nodes), reverse=True)
    elif options.order_by in _ORDERED_BY:
        rows.sort(key=lambda row: getattr(row.own, _ORDERED_BY[options.order_by]), reverse=True)
    rows = _add_up(rows)
    whole = rows[0].total if rows else Measures()
    start = next((n for n, row in enumerate(rows) if matches(options.start_name_regexes, row.name)), len(rows))
    stop = next((n for n, row in enumerate(rows) if matches(options.trim_name_regexes, row.name)), len(rows))
    kept = [row for row in rows[start : min(stop, options.max_depth + 1)] if _is_shown(row, options)]
    if options.account_displayed_op_only:
        kept = _add_up(kept)
        whole = kept[0].total if kept else Measures()
    return Row(ROOT, children=kept, total=whole)


def _add_up(rows: list[Row]) -> list[Row]:
    after = Measures()
    added: list[Row] = []
    for row in reversed(rows):
        after = after + row.own
        added.append(replace(row, total=after))
    return added[::-1]
