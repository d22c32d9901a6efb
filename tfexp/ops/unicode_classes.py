"""The classes of characters that RE2 knows as `\\pL`, `\\p{Lu}`, `\\p{Greek}`: general categories and scripts of Unicode."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import unicodedata

from tfexp.ops.unicode_script import runs_of_scripts

# Scripts in the order of their numbers in ICU's enumeration (UScriptCode).
_SCRIPTS = """
    Common Inherited Arabic Armenian Bengali Bopomofo Cherokee Coptic Cyrillic Deseret Devanagari Ethiopic Georgian Gothic
    Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Ogham
    Old_Italic Oriya Runic Sinhala Syriac Tamil Telugu Thaana Thai Tibetan Canadian_Aboriginal Yi Tagalog Hanunoo Buhid
    Tagbanwa Braille Cypriot Limbu Linear_B Osmanya Shavian Tai_Le Ugaritic
"""
_SCRIPT_NUMBERS = {name: number for number, name in enumerate(re.findall(r"\w+", _SCRIPTS))}
_MAJOR = "CLMNPSZ"
_LAST = sys.maxunicode

Ranges = list[tuple[int, int]]


@functools.cache
def _runs_of_categories() -> list[tuple[int, int, str]]:
    """(first, last, general category) of the runs of code points."""
    points = itertools.groupby(range(_LAST + 1), lambda point: unicodedata.category(chr(point)))
    runs = []
    for category, run in points:
        members = list(run)
        runs.append((members[0], members[-1], category))
    return runs


@functools.cache
def _ranges(name: str) -> Ranges:
    """The code points of a class; LookupError for a name that is none."""
    if name == "Any":
        return [(0, _LAST)]
    if name in _SCRIPT_NUMBERS:
        starts, scripts = (each.tolist()[1:] for each in runs_of_scripts())
        ends = [start - 1 for start in [*starts[1:], _LAST + 1]]
        number = _SCRIPT_NUMBERS[name]
        return [(a, min(b, _LAST)) for a, b, script in zip(starts, ends, scripts, strict=True) if script == number]
    found = [(a, b) for a, b, category in _runs_of_categories() if name in (category, category[0]) and category != "Cn"]
    if not found or name[0] not in _MAJOR:
        raise LookupError(name)
    return found


def _all_but(ranges: Ranges) -> Ranges:
    starts = [0, *(b + 1 for _, b in ranges)]
    ends = [*(a - 1 for a, _ in ranges), _LAST]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if a <= b]


@functools.lru_cache(maxsize=64)
def inside_of_brackets(token: str) -> str:
    r"""What stands for `\pL`, `\p{Lu}`, `\p{^Lu}`, `\P{Lu}` in brackets of `re`. LookupError for unknown names."""
    name = token[2:].strip("{}")
    is_negated = token[1] == "P"
    if name.startswith("^"):
        is_negated, name = not is_negated, name[1:]
    ranges = _all_but(_ranges(name)) if is_negated else _ranges(name)
    return "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges)
