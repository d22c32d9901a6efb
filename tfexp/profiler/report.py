"""A profile as text: what the columns mean, and a line for each row. The layout is TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.profiler.measures import Measures, total
from tfexp.profiler.nodes import Node
from tfexp.profiler.options import Options
from tfexp.profiler.views import Row

_VIEWS = {
    "scope": "scope: The graph's nodes by their names, as a tree of scopes.",
    "graph": "graph: The graph's nodes by the flow of data, each below what takes its value.",
    "code": "code: The lines of the program that made the nodes.",
    "op": "op: The types of the graph's nodes, all nodes of a type together.",
}
_CPU = "cpu execution time: From the start of a node to its end on the threads of its device."
_ACCELERATOR = "accelerator execution time: How long a node ran in the streams of an accelerator."
_COLUMNS = {
    "accelerator_micros": _ACCELERATOR,
    "bytes": "requested bytes: The memory that a node asked for, all in all.",
    "cpu_micros": _CPU,
    "device": "device: The devices that ran the nodes.",
    "float_ops": "flops: Float operations, counted from shapes; 0 where these are not known.",
    "input_shapes": "input shape: The shapes of a node's inputs, by number.",
    "micros": f"total execution time: Of a node on cpu and accelerator.\n{_CPU}\n{_ACCELERATOR}",
    "occurrence": "occurrence: How often nodes ran, and how many there are.",
    "op_types": "op_types: The type of a node, its device, and the types that an op log gives it.",
    "output_bytes": "output bytes: The size of a node's results, whoever allocated them.",
    "params": "param: The number of a variable's (or placeholder's) elements.",
    "peak_bytes": "peak bytes: The most memory that a node held at a time.",
    "residual_bytes": "residual bytes: What was left of a node's memory when it had ended.",
    "tensor_value": "tensor_value: Not shown: a profile has no values.",
}


# --- numbers -------------------------------------------------------------------------------------------------------------


def _scaled(number: int, plain: str, *larger: str) -> str:
    """`1.23ms` and the like: two digits after the point from a thousand on, and the largest unit for all that is larger."""
    if number < 1000:
        return f"{number}{plain}"
    for power, unit in enumerate(larger, start=1):
        if number < 1000 ** (power + 1) or power == len(larger):
            return f"{number / 1000**power:.2f}{unit}"
    raise AssertionError(larger)


def _count(number: int) -> str:
    return _scaled(number, "", "k", "m", "b")


def _bytes(number: int) -> str:
    return _scaled(number, "B", "KB", "MB")


def as_time(micros: int) -> str:
    return _scaled(micros, "us", "ms", "sec")


@dataclass(frozen=True)
class _Column:
    """A measure: which options select it, its heading, its unit, and how the number is written."""

    selected_by: tuple[str, ...]
    heading: str
    measure: str
    unit: str
    write: Callable[[int], str]

    def of(self, measures: Measures) -> int:
        return int(getattr(measures, self.measure))


_COUNTED = (
    _Column(("params",), "# parameters", "parameters", " params", _count),
    _Column(("float_ops",), "# float_ops", "float_ops", " flops", _count),
)
_MEASURED = (
    _Column(("bytes",), "requested bytes", "requested_bytes", "", _bytes),
    _Column(("peak_bytes",), "peak bytes", "peak_bytes", "", _bytes),
    _Column(("residual_bytes",), "residual bytes", "residual_bytes", "", _bytes),
    _Column(("output_bytes",), "output bytes", "output_bytes", "", _bytes),
    _Column(("micros",), "total execution time", "exec_micros", "", as_time),
    _Column(("micros", "accelerator_micros"), "accelerator execution time", "accelerator_exec_micros", "", as_time),
    _Column(("micros", "cpu_micros"), "cpu execution time", "cpu_exec_micros", "", as_time),
)


def _selected(columns: Iterable[_Column], options: Options) -> list[_Column]:
    return [column for column in columns if not set(column.selected_by).isdisjoint(options.select)]


def _headings(options: Options, columns: list[_Column], occurrence: str) -> str:
    rest = {
        "device": "assigned devices",
        "op_types": "op types",
        "occurrence": f"{occurrence} (run|defined)",
        "input_shapes": "input shapes",
    }
    selected = [heading for key, heading in rest.items() if key in options.select]
    return "node name | " + " | ".join([column.heading for column in columns] + selected)


def _shape(shape: TensorShape) -> str:
    if shape.rank is None:
        return "unknown"
    return "x".join("-1" if dim is None else str(dim) for dim in shape.as_list()) or "1"


def _input_shapes(node: Node, separator: str) -> str:
    return separator.join(f"{number}:{_shape(shape)}" for number, shape in enumerate(node.input_shapes))


# --- trees ---------------------------------------------------------------------------------------------------------------


def tree_text(root: Row, options: Options) -> str:
    """A line for each row, indented by its depth: its own measures, and after a slash the totals."""
    columns = _selected((*_COUNTED, *_MEASURED), options)
    lines = [_headings(options, columns, "op count")]
    pending = [(root, 0)]
    while pending:
        row, depth = pending.pop()
        lines.append(f"{'  ' * depth}{row.name} ({', '.join(_cells(row, columns, options))})")
        pending.extend((child, depth + 1) for child in reversed(row.children))
    return "\n".join(lines) + "\n"


def _cells(row: Row, columns: list[_Column], options: Options) -> list[str]:
    cells = []
    if "params" in options.select and row.node is not None and row.node.shape is not None:
        cells.append(_shape(row.node.shape))
    for column in columns:
        own = column.write(column.of(row.own)) if row.accounted else "--"
        cells.append(f"{own}/{column.write(column.of(row.total))}{column.unit}")
    if "device" in options.select:
        devices = _devices(row)
        cells.extend(["|".join(devices)] if devices else [])
    if "op_types" in options.select:
        cells.append("|".join(sorted(row.types)))
    if "occurrence" in options.select:
        run, defined = (row.own.run_count, row.own.definition_count) if row.accounted else ("--", "--")
        cells.append(f"{run}/{row.total.run_count}|{defined}/{row.total.definition_count}")
    if "input_shapes" in options.select:
        cells.append("" if row.node is None else _input_shapes(row.node, "|"))
    return cells


def _devices(row: Row) -> list[str]:
    nodes = row.nodes if row.node is None else [row.node]
    return sorted({node.device for node in nodes if node.device})


# --- lists ---------------------------------------------------------------------------------------------------------------


def list_text(root: Row, options: Options) -> str:
    """A line for each op type: its measures, and which parts of all these are what is left from it on, and are its own."""
    columns = _selected((*_MEASURED, *_COUNTED), options)
    lines = [_headings(options, columns, "op occurrence")]
    for row in root.children:
        cells = [_share(column, row, root.total) for column in columns]
        if "device" in options.select:
            cells.append("|".join(_devices(row)))
        if "op_types" in options.select:
            cells.append("|".join(sorted(row.types)))
        if "occurrence" in options.select:
            cells.append(f"{f'{row.own.run_count}|{len(row.nodes)}':>10}")
        lines.append(f"{row.name:<25}{', '.join(cells)}")
        if "input_shapes" in options.select:
            lines.extend(["", *_by_input_shapes(row.nodes, options), ""])
    return "\n".join(lines) + "\n"


def _share(column: _Column, row: Row, whole: Measures) -> str:
    number, every = column.of(row.own), column.of(whole)
    left, own = (100.0 * part / every if every else 0.0 for part in (column.of(row.total), number))
    if column.write is _bytes and number == 0:
        left = 0.0  # of memory, only those who have some tell what is left
    unit = " float_ops" if column.measure == "float_ops" else column.unit
    return f"{f'{column.write(number)}{unit} ({left:.2f}%, {own:.2f}%)':>30}"


def _by_input_shapes(nodes: list[Node], options: Options) -> list[str]:
    """A line for each combination of input shapes, those that ran most often first."""
    groups: dict[str, list[Measures]] = {}
    for node in nodes:
        groups.setdefault(_input_shapes(node, ",\t"), []).append(node.measures(options.step))
    together = {text: total(parts) for text, parts in groups.items()}
    return [
        f"input_type: {text}\t(run*{ran.run_count}|defined*{ran.definition_count})\texec_time: {as_time(ran.exec_micros)}"
        for text, ran in sorted(together.items(), key=lambda item: (-item[1].run_count, item[0]))
    ]


# --- the whole -----------------------------------------------------------------------------------------------------------


_OPTIONS = f"{'=' * 25}Options{'=' * 29}"
_BEGIN = f"{'=' * 18}Model Analysis Report{'=' * 22}"
_END = f"{'=' * 22}End of Report{'=' * 26}"


def explained(view: str, options: Options, profile: str) -> str:
    """The profile after what its view and its columns are."""
    columns = "\n".join(_COLUMNS[name] for name in sorted(options.select))
    return f"\nDoc:\n{_VIEWS[view]}\n{columns}\n\nProfile:\n{profile}"


def framed(options: Options, text: str) -> str:
    """Between the options and an end, for the terminal."""
    settings = "\n".join(f"-{field.name:<27}{_setting(field.name, options)}" for field in fields(options))
    return f"\n{_OPTIONS}\n{settings}:\n\n{_BEGIN}\n{text}\n{_END}\n"


def _setting(name: str, options: Options) -> str:
    value: Any = getattr(options, name)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(sorted(value) if name == "select" else value)
    return str(value)
