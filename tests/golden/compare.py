"""Compares two captures of a golden program and says, for a person, where they first differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.capture import Capture, decode

SHOWN_BEFORE = 2


def graph_differences(expected: Capture, actual: Capture) -> list[str]:
    """What differs in nodes, outputs, collections and facts, one readable paragraph each; nothing where they agree."""
    return [
        *_nodes(expected["nodes"], actual["nodes"]),
        *_lines("output (name dtype shape)", expected["outputs"], actual["outputs"]),
        *_mapping("collection", _filled(expected["collections"]), _filled(actual["collections"])),
        *_mapping("fact", expected["facts"], actual["facts"]),
    ]


def _filled(collections: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without the empty ones, which come from looking a collection up."""
    return {name: items for name, items in collections.items() if items}


def run_differences(expected: Capture, actual: Capture) -> list[str]:
    """What differs in what was fetched and the values that came back."""
    return list(_runs(expected["runs"], actual["runs"]))


def _nodes(expected: list[str], actual: list[str]) -> Iterator[str]:
    for index, (wanted, got) in enumerate(zip(expected, actual, strict=False)):
        if wanted != got:
            agreed = "\n".join(f"    {name_of(line)}" for line in expected[max(0, index - SHOWN_BEFORE) : index])
            detail = difflib.unified_diff(
                _pretty(wanted),
                _pretty(got),
                f"TensorFlow: {name_of(wanted)}",
                f"tfexp: {name_of(got)}",
                "",
                "",
                99,
            )
            yield (
                f"node {index} of {len(expected)} differs; before it:\n{agreed}\n"
                + "\n".join(line.rstrip("\n") for line in detail)
                + _names(expected, actual)
            )
            return
    if len(expected) != len(actual):
        yield f"{len(expected)} nodes expected, {len(actual)} made" + _names(expected, actual)


def _names(expected: list[str], actual: list[str]) -> str:
    """A diff of the node names and types alone, which shows what is missing, extra or out of order."""
    wanted, got = [name_of(line) for line in expected], [name_of(line) for line in actual]
    if wanted == got:
        return ""
    lines = list(difflib.unified_diff(wanted, got, "names: TensorFlow", "names: tfexp", "", "", 1))
    return "\n" + "\n".join(line.rstrip("\n") for line in lines[:40])


def name_of(line: str) -> str:
    """`name (Op)` of a node's line."""
    fields = line.split('"')
    return f"{fields[1]} ({fields[3]})" if len(fields) > 3 else line


def _pretty(line: str) -> list[str]:
    """The node's text, one field or attribute a line."""
    out = line
    for field in ("op:", "input:", "device:", "attr {"):
        out = out.replace(f" {field}", f"\n{field}")
    return out.split("\n")


def _lines(kind: str, expected: list[str], actual: list[str]) -> Iterator[str]:
    if expected != actual:
        changed = [
            line for line in difflib.unified_diff(expected, actual, "TensorFlow", "tfexp", "", "", 0) if line[:2] != "@@"
        ]
        yield f"{kind} differs:\n" + "\n".join(line.rstrip("\n") for line in changed[:24])


def _mapping(kind: str, expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[str]:
    for key in sorted(expected.keys() | actual.keys()):
        wanted, got = expected.get(key, "(absent)"), actual.get(key, "(absent)")
        if wanted != got:
            yield f"{kind} {key!r} differs:\n  TensorFlow: {wanted}\n  tfexp:      {got}"


def _runs(expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> Iterator[str]:
    if len(expected) != len(actual):
        yield f"{len(expected)} runs expected, {len(actual)} made"
    for number, (wanted, got) in enumerate(zip(expected, actual, strict=False)):
        for kind in ("fetches", "feeds"):
            if wanted[kind] != got[kind]:
                yield f"run {number} {kind}:\n  TensorFlow: {wanted[kind]}\n  tfexp:      {got[kind]}"
        pairs = zip(wanted["fetches"], wanted["values"], got["values"], strict=False)
        for name, wanted_value, got_value in pairs:
            problem = _value(wanted_value, got_value, wanted["rtol"], wanted["atol"])
            if problem:
                yield f"run {number}, value of {name}: {problem}"


def _value(expected: dict[str, Any] | None, actual: dict[str, Any] | None, rtol: float, atol: float) -> str:
    if expected is None or actual is None:
        return "" if expected is actual else f"expected {expected}, got {actual}"
    wanted, got = decode(expected), decode(actual)
    if (expected["dtype"], wanted.shape) != (actual["dtype"], got.shape):
        return f"expected {expected['dtype']}{wanted.shape}, got {actual['dtype']}{got.shape}"
    # Integers are exact unless a program says by how many they may differ.
    integers = wanted.dtype.kind in "iu"
    inexact = wanted.dtype.kind in "fc" or (integers and atol >= 1)
    relative = 0 if integers else rtol
    same = np.allclose(wanted, got, relative, atol, equal_nan=True) if inexact else np.array_equal(wanted, got)
    return "" if same else f"expected\n{wanted}\ngot\n{got}"
