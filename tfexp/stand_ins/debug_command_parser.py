"""What the words of a debugger's commands mean: `tensorflow.python.debug.cli.command_parser`. Source: TF 1.15."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\[[^\]]*\]|\S)+""")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_SLICE = re.compile(r"\s*(\d+|\d*\s*:\s*\d*(\s*:\s*\d*)?)\s*")
_BOUND = re.compile(r"([<>]=?)(.*)")
_MORE_THAN = re.compile(r">=?\s*-?\.?\d")
_BYTES = {"k": 2**10, "M": 2**20, "G": 2**30}
_MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6}


@dataclass
class Interval:
    """From start to end, each of them in it or not."""

    start: float
    start_included: bool
    end: float
    end_included: bool

    def contains(self, value: float) -> bool:
        return (
            self.start < value < self.end
            or (value == self.start and bool(self.start_included))
            or (value == self.end and bool(self.end_included))
        )


def parse_command(command: str) -> list[str]:
    """The words of a command: spaces in quotes and brackets divide none, and quotes around a whole word go."""
    words = _WORD.findall(command)
    return [word[1:-1] if _QUOTED.fullmatch(word) else word for word in words]


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """(the words before, the file) of words that end in `> file`, with spaces or without; (args, None) for others.

    An option's `>1k`, and what `=>` begins, is an interval. SyntaxError where no file is named.
    """
    if not args:
        return args, None
    *before, last = args
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if "=>" in last or (before and before[-1].startswith("-") and _MORE_THAN.match(last)):
        return args, None
    if before and before[-1].endswith(">"):
        head, path = before.pop()[:-1], last
    elif last.startswith(">") or last.count(">") == 1:
        head, _, path = last.partition(">")
    else:
        return args, None
    return ([*before, head] if head else before), path


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """(name, slicing) of `name[slicing]`, the latter with its brackets; "" where there is none."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        at = in_str.index("[")
        return in_str[:at], in_str[at:]
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    """Whether it is whole numbers, none of them negative, and slices of such, between brackets."""
    slicing = slicing_string.strip()
    if not (slicing.startswith("[") and slicing.endswith("]")):
        return False
    return all(_SLICE.fullmatch(part) for part in slicing[1:-1].split(","))


def evaluate_tensor_slice(tensor: Any, tensor_slicing: str) -> Any:
    """What an array has there. ValueError for what is no slicing."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[tuple(_as_index(part) for part in tensor_slicing.strip()[1:-1].split(","))]


def _as_index(text: str) -> int | slice:
    numbers = [int(part) if part.strip() else None for part in text.split(":")]
    return int(text) if len(numbers) == 1 else slice(*numbers)


def parse_indices(indices_string: str) -> list[int]:
    """[1, 2] of `[1, 2]`, and of `1, 2`. ValueError for other things than whole numbers."""
    text = indices_string.strip()
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [int(part.strip()) for part in inner.split(",")]


def parse_ranges(range_string: str) -> list[list[float]]:
    """The pairs of `[[1, 2], [3, inf]]`, or the one of `[1, 2]`; inf is the largest float. ValueError for others."""
    text = range_string.strip()
    if not text:
        return []
    ranges = ast.literal_eval(text.replace("inf", repr(sys.float_info.max)))
    if ranges and not isinstance(ranges[0], list):
        ranges = [ranges]
    for pair in ranges:
        if len(pair) != 2:
            raise ValueError("Incorrect number of elements in range")
        for which, bound in zip(("1st", "2nd"), pair, strict=True):
            if not isinstance(bound, (int, float)):
                raise ValueError(f"Incorrect type in the {which} element of range: {type(bound)}")
    return ranges


def parse_readable_size_str(size_str: str) -> int:
    """Bytes of `12`, `12B`, `100k`, `2.5M` and `1GB`. ValueError for others."""
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] not in _BYTES:
        raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')
    return int(float(text[:-1]) * _BYTES[text[-1]])


def parse_readable_time_str(time_str: str) -> int:
    """Microseconds of `1.5`, `1.5us`, `2ms` and `3s`. ValueError for others, and for negative ones."""
    text = time_str.strip()
    unit = next((unit for unit in _MICROSECONDS if text.endswith(unit)), "")
    number = float(text.removesuffix(unit))
    if number < 0:
        raise ValueError(f"Invalid time {number:g}. Time value must be positive.")
    return int(number * _MICROSECONDS.get(unit, 1))


def parse_time_interval(interval_str: str) -> Interval:
    """Microseconds of `[1ms, 2s)`, `>=5us` and the like. ValueError for others."""
    return _interval(interval_str, parse_readable_time_str, "Start must be before end of interval.")


def parse_memory_interval(interval_str: str) -> Interval:
    """Bytes of `[1k, 2M)`, `>=5` and the like. ValueError for others."""
    return _interval(
        interval_str, parse_readable_size_str, "Start of interval must be less than or equal to end of interval."
    )


def _interval(text: str, parse: Callable[[str], int], order: str) -> Interval:
    text = text.strip()
    if bound := _BOUND.fullmatch(text):
        value, included = _item(parse, bound[2], f"value string after {bound[1]} in {text!r}"), bound[1].endswith("=")
        return Interval(value, included, float("inf"), False) if text[0] == ">" else Interval(0, False, value, included)
    if text[:1] not in ("[", "(") or text[-1] not in ("]", ")"):
        raise ValueError(f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max, >min")
    parts = text[1:-1].split(",")
    if len(parts) != 2:
        raise ValueError(f"Incorrect interval format: {text}. Interval should specify two values: [min, max] or (min, max).")
    start, end = (
        _item(parse, part, f"{which} item in interval: {part!r}")
        for which, part in zip(("first", "second"), parts, strict=True)
    )
    if start > end:
        raise ValueError(f"Invalid interval {text}. {order}")
    return Interval(start, text[0] == "[", end, text[-1] == "]")


def _item(parse: Callable[[str], int], text: str, what: str) -> int:
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"Invalid {what}") from error
