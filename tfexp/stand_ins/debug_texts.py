"""Lines with colours and notes: the texts of `tensorflow.python.debug.cli.debugger_cli_common`. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Segments = dict[int, list[tuple[int, int, Any]]]

REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"


class RichLine:
    """One line, of which each segment (start, end, attributes) may look different. `+` joins it with others and str."""

    def __init__(self, text: str = "", font_attr: Any = None):
        self.text = text
        self.font_attr_segs = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: RichLine | str) -> RichLine:
        if not isinstance(other, (RichLine, str)):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        other = RichLine(other) if isinstance(other, str) else other
        joined = RichLine(self.text + other.text)
        moved = [(start + len(self), end + len(self), attributes) for start, end, attributes in other.font_attr_segs]
        joined.font_attr_segs = self.font_attr_segs + moved
        return joined

    def __len__(self) -> int:
        return len(self.text)


def _moved(by_line: Mapping[Any, Any], first: int, end: int | None = None, to: int = 0) -> dict[Any, Any]:
    """What is kept of lines from `first` to before `end`, when the first of them becomes line `to`."""
    return {
        line - first + to: value
        for line, value in by_line.items()
        if isinstance(line, int) and line >= first and (end is None or line < end)
    }


def _of_all(annotations: Mapping[Any, Any]) -> dict[Any, Any]:
    """The notes that belong to no line."""
    return {key: value for key, value in annotations.items() if not isinstance(key, int)}


class RichTextLines:
    """Lines of text, the segments of each that look different, and notes: of a line by its number, of all by other keys.

    ValueError for lines that are neither a list nor a str.
    """

    def __init__(self, lines: list[str] | str, font_attr_segs: Any = None, annotations: Any = None):
        if not isinstance(lines, (list, str)):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self._lines = [lines] if isinstance(lines, str) else lines
        self._segments: Segments = font_attr_segs or {}
        self._annotations: dict[Any, Any] = annotations or {}

    @property
    def lines(self) -> list[str]:
        return self._lines

    @property
    def font_attr_segs(self) -> Segments:
        return self._segments

    @property
    def annotations(self) -> dict[Any, Any]:
        return self._annotations

    def num_lines(self) -> int:
        return len(self._lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from begin to before end, and the notes of all. ValueError for negative ones."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")
        notes = _moved(self._annotations, begin, end) | _of_all(self._annotations)
        return RichTextLines(self._lines[begin:end], _moved(self._segments, begin, end), notes)

    def extend(self, other: RichTextLines) -> None:
        """Put others behind these. Where both have a note of all under one key, the other's stays."""
        self._segments.update(_moved(other.font_attr_segs, 0, to=self.num_lines()))
        self._annotations.update(_moved(other.annotations, 0, to=self.num_lines()) | _of_all(other.annotations))
        self._lines = self._lines + other.lines

    def _extend_before(self, other: RichTextLines) -> None:
        """Put others before these; their notes count as in `extend`."""
        self._segments = _moved(self._segments, 0, to=other.num_lines()) | other.font_attr_segs
        notes = _moved(self._annotations, 0, to=other.num_lines()) | _of_all(self._annotations)
        self._annotations = notes | other.annotations
        self._lines = other.lines + self._lines

    def append(self, line: str, font_attr_segs: Any = None) -> None:
        self.extend(RichTextLines(line, {0: font_attr_segs} if font_attr_segs else None))

    def append_rich_line(self, rich_line: RichLine) -> None:
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: str, font_attr_segs: Any = None) -> None:
        self._extend_before(RichTextLines(line, {0: font_attr_segs} if font_attr_segs else None))

    def write_to_file(self, file_path: str) -> None:
        """The text alone."""
        with open(file_path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self._lines)


def rich_text_lines_from_rich_line_list(rich_text_list: Iterable[RichLine | str], annotations: Any = None) -> RichTextLines:
    made = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        made.append_rich_line(RichLine(line) if isinstance(line, str) else line)
    return made


def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The same text with every match marked, and the lines that have one noted. ValueError for no regular expression."""
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from error
    segments = {line: list(parts) for line, parts in orig_screen_output.font_attr_segs.items()}
    matching = []
    for number, line in enumerate(orig_screen_output.lines):
        found = [(match.start(), match.end(), font_attr) for match in pattern.finditer(line)]
        if found:
            segments[number] = segments.get(number, []) + found
            matching.append(number)
    notes = {**orig_screen_output.annotations, REGEX_MATCH_LINES_KEY: matching}
    return RichTextLines(orig_screen_output.lines, segments, notes)


def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """(the lines cut into such of at most cols letters, the numbers of those that begin a line of before).

    The note of a line stays with its first part. ValueError for other types, and for no columns.
    """
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    if cols < 1:
        raise ValueError(f"cols must be at least 1: {cols}")
    wrapped, begins = RichTextLines([]), []
    for number, line in enumerate(inp.lines):
        begins.append(wrapped.num_lines())
        if number in inp.annotations:
            wrapped.annotations[wrapped.num_lines()] = inp.annotations[number]
        for start in range(0, max(len(line), 1), cols):
            end = min(start + cols, len(line))
            segments = [
                (max(first, start) - start, min(last, end) - start, attributes)
                for first, last, attributes in inp.font_attr_segs.get(number, ())
                if first < end and last > start
            ]
            wrapped.append(line[start:end], segments)
    wrapped.annotations.update(_of_all(inp.annotations))
    return wrapped, begins
