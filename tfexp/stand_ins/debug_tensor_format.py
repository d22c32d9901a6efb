"""Arrays as lines whose elements can be found: `tensorflow.python.debug.cli.tensor_format`. Source: TF 1.15."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.debug.figures import figures
from tfexp.debug.tensors import InconvertibleTensorProto
from tfexp.stand_ins.debug_texts import RichTextLines, Segments

BEGIN_INDICES_KEY, OMITTED_INDICES_KEY = "i0", "omitted"  # notes of a line: where it begins in the array
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"

_METADATA = "tensor_metadata"
_ELEMENT = r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|[^\s,\[\]]+"""
_TOKEN = re.compile(rf"[\[\]]|{_ELEMENT}")


@dataclass
class HighlightOptions:
    """What is highlighted: where `criterion(array)` is true; what it is called; and how it looks."""

    criterion: Callable[[np.ndarray], Any]
    description: str | None = None
    font_attr: Any = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: str | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: dict[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """A value in lines, under its name; of an array, each line has a note of which element it begins with.

    `np_printoptions` stay set, as `np.set_printoptions` sets them.
    """
    is_array = isinstance(tensor, np.ndarray)
    segments: Segments = {}
    lines: list[str] = []
    if tensor_label is not None:
        lines.append(f'Tensor "{tensor_label}":')
        if is_array:
            segments[0] = _label_segments(tensor_label, len('Tensor "'))
    mask = np.zeros(0) if highlight_options is None or not is_array else np.asarray(highlight_options.criterion(tensor))
    if lines and is_array and highlight_options is not None:
        called = f"({highlight_options.description})" if highlight_options.description else ""
        count = np.count_nonzero(mask)
        share = 100.0 * count / tensor.size if tensor.size else 0.0
        lines[0] += f" Highlighted{called}: {count} of {tensor.size} element(s) ({share:.2f}%)"
    if include_metadata and is_array:
        lines += [f"  dtype: {tensor.dtype}", f"  shape: {tensor.shape}"]
    if auxiliary_message:
        lines.append(auxiliary_message)
    if lines:
        lines.append("")
    if include_numeric_summary and is_array:
        lines += ["Numeric summary:", *figures(tensor), ""]
    if not is_array:
        text = str(tensor) if isinstance(tensor, InconvertibleTensorProto) else repr(tensor)
        return RichTextLines(lines + text.split("\n"), segments)
    np.set_printoptions(**np_printoptions or {})
    shown, edge = repr(tensor).split("\n"), np.get_printoptions()["edgeitems"]
    notes: dict[Any, Any] = {_METADATA: {"dtype": tensor.dtype, "shape": tensor.shape}}
    notes |= {len(lines) + line: note for line, note in _notes(shown, tensor.shape, edge)}
    result = RichTextLines(lines + shown, segments, notes)
    if highlight_options is not None and tensor.ndim:
        for indices in np.argwhere(mask):
            _, row, start, end = locate_tensor_element(result, indices.tolist())
            if start is not None:
                segments.setdefault(row, []).append((start, end, highlight_options.font_attr))
    return result


def numeric_summary(tensor: np.ndarray) -> RichTextLines:
    """What the elements are like: see `figures`."""
    return RichTextLines(figures(tensor))


def _label_segments(label: str, start: int) -> list[tuple[int, int, Any]]:
    """The tensor's name is bold, and a debug op behind it yellow."""
    name, _, debug_op = label.rpartition(":") if label.count(":") == 2 else (label, "", "")
    end = start + len(name)
    return [(start, end, "bold")] + ([(end + 1, end + 1 + len(debug_op), "yellow")] if debug_op else [])


def _notes(lines: list[str], dims: tuple[int, ...], edge: int) -> Iterator[tuple[int, dict[str, list[int]]]]:
    """Of each line with elements: the first of them, or, where a line stands for elements that are not shown, of those."""
    at: list[int] = []
    for number, line in enumerate(lines):
        begun = False
        for token in _TOKEN.findall(line.replace("array(", "", 1) if number == 0 else line):
            if token == "[":
                at.append(0)
            elif token == "]":
                at.pop()
                if not at:
                    return
                at[-1] += 1
            elif at:
                if not begun:
                    key = OMITTED_INDICES_KEY if token == "..." else BEGIN_INDICES_KEY
                    yield number, {key: at + [0] * (len(dims) - len(at))}
                    begun = True
                at[-1] = dims[len(at) - 1] - edge if token == "..." else at[-1] + 1


def locate_tensor_element(formatted: RichTextLines, indices: Any) -> tuple[Any, Any, Any, Any]:
    """(whether it is left out, its line, its first column, the one behind it) of an element; lists of these for a list.

    The columns are None for what is left out. AttributeError for lines that are no array's; ValueError for indices that
    the array has not, and for several that do not ascend.
    """
    if _METADATA not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    several = isinstance(indices[0], list)
    wanted = indices if several else [indices]
    for one in wanted:
        _check(one, formatted.annotations[_METADATA]["shape"])
    if any(before > after for before, after in itertools.pairwise(wanted)):
        raise ValueError("Input indices sets are not in ascending order.")
    found = [_locate(formatted, one) for one in wanted]
    return tuple(map(list, zip(*found, strict=True))) if several else found[0]  # type: ignore[return-value]


def _check(indices: list[int], dims: tuple[int, ...]) -> None:
    if len(indices) != len(dims):
        raise ValueError(f"Dimensions mismatch: requested: {len(indices)}; actual: {len(dims)}")
    if any(index >= dim for index, dim in zip(indices, dims, strict=True)):
        raise ValueError("Indices exceed tensor dimensions.")
    if any(index < 0 for index in indices):
        raise ValueError("Indices contain negative value(s).")


def _locate(formatted: RichTextLines, indices: list[int]) -> tuple[bool, int, int | None, int | None]:
    begins = {line: next(iter(note.items())) for line, note in formatted.annotations.items() if isinstance(line, int)}
    row = max(line for line, (_, begin) in begins.items() if begin <= indices)
    key, begin = begins[row]
    if key == OMITTED_INDICES_KEY:
        return True, row, None, None
    line = formatted.lines[row]
    tokens = list(re.compile(_ELEMENT).finditer(line, line.rfind("[") + 1))
    shown = next((place for place, token in enumerate(tokens) if token[0] == "..."), len(tokens))
    place = indices[-1] - begin[-1]
    return (False, row, *tokens[place].span()) if place < shown else (False, row, None, None)
