"""Regular expressions: `tf.regex_replace` (also `tf.strings.regex_replace`).

TensorFlow uses RE2; here Python's `re` reads the patterns, with RE2's meaning of `.`, `$`, `\\d`, `\\w`, `\\s`, `\\z`
and `[[:alpha:]]`.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import require_scalar
from tfexp.ops.shape_rules import shape_preserving, with_rank
from tfexp.ops.string_arrays import attr_bytes, shown, string_array, texts_of

# The insides of a bracket expression that stand for POSIX classes.
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_TOKEN = re.compile(
    r"\\Q(?P<literal>.*?)(?:\\E|\Z)|(?P<unicode>\\[pP])|(?P<escape>\\.)|\[:(?P<posix>\w+):\]|(?P<open>\[\^?\]?)|(?P<other>.)",
    re.DOTALL,
)


def _translated(pattern: str) -> str:
    """A pattern of RE2 in the words of `re`."""
    parts: list[str] = []
    inside = False
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if match["literal"] is not None:
            token = re.escape(match["literal"])
        elif match["posix"] is not None:
            if not inside or match["posix"] not in _POSIX:
                raise re.error(f"invalid character class: {token}")
            token = _POSIX[match["posix"]]
        elif match["unicode"] is not None:
            raise re.error(f"{token} is not supported")
        elif token == r"\z" or (token == "$" and not inside):
            token = r"\Z"
        elif token in (r"\C", r"\X", r"\Z"):
            raise re.error(f"{token} is not supported")
        elif match["open"] is not None:
            token = token.replace("[", r"\[", 1) if inside else token
            inside = True
        elif token == "]":
            inside = False
        elif inside and token in "&~|":
            token = "\\" + token
        parts.append(token)
    return "".join(parts)


@functools.lru_cache(maxsize=64)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    """The expression, on texts decoded as `_decoded` does."""
    try:
        text = _decoded(pattern)
        # `$` means the end of each line in RE2's multi-line mode, which only a flag in the pattern turns on.
        multiline = re.match(r"\(\?[is]*m", text) is not None
        return re.compile(text if multiline else _translated(text), re.ASCII if text.isascii() else 0)
    except re.error as error:
        raise InvalidArgumentError(None, None, f"Invalid pattern: {shown(pattern)}, error: {error}") from None


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


# --- matching ----------------------------------------------------------------------------------------------------------

regex_full_match_op = define_op("RegexFullMatch(input: string, pattern: string) -> (output: bool)")


@regex_full_match_op.shape
def _(input: TensorShape, pattern: TensorShape) -> TensorShape:
    with_rank(pattern, 0)
    return input


@regex_full_match_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, pattern: Any) -> np.ndarray:
    require_scalar("Pattern", pattern)
    return _matches(input, np.asarray(pattern).item())


static_regex_full_match_op = define_op("StaticRegexFullMatch(input: string) -> (output: bool) {pattern: string}")
shape_preserving(static_regex_full_match_op)


@static_regex_full_match_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, pattern: bytes | str) -> np.ndarray:
    return _matches(input, attr_bytes(pattern))


def _matches(texts: np.ndarray, pattern: bytes) -> np.ndarray:
    expression = _compiled(pattern)
    found = [expression.fullmatch(_decoded(text)) is not None for text in texts_of(texts)]
    return np.array(found, np.bool_).reshape(np.shape(texts))


Pieces = list[str | int]

# --- replacing ---------------------------------------------------------------------------------------------------------

regex_replace_op = define_op(
    "RegexReplace(input: string, pattern: string, rewrite: string) -> (output: string) {replace_global: bool = true}"
)


@regex_replace_op.shape
def _(input: TensorShape, pattern: TensorShape, rewrite: TensorShape) -> TensorShape:
    with_rank(pattern, 0)
    with_rank(rewrite, 0)
    return input


@regex_replace_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, pattern: Any, rewrite: Any, *, replace_global: bool) -> np.ndarray:
    require_scalar("Pattern", pattern)
    require_scalar("Rewrite", rewrite)
    return _replaced(input, np.asarray(pattern).item(), np.asarray(rewrite).item(), replace_global)


regex_replace_op.not_differentiable()

static_regex_replace_op = define_op(
    "StaticRegexReplace(input: string) -> (output: string) {pattern: string; rewrite: string; replace_global: bool = true}"
)
shape_preserving(static_regex_replace_op)


@static_regex_replace_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, pattern: bytes | str, rewrite: bytes | str, replace_global: bool) -> np.ndarray:
    return _replaced(input, attr_bytes(pattern), attr_bytes(rewrite), replace_global)


def _replaced(texts: np.ndarray, pattern: bytes, rewrite: bytes, everywhere: bool) -> np.ndarray:
    expression = _compiled(pattern)
    pieces, is_valid = _pieces(_decoded(rewrite))
    lacks_group = any(isinstance(piece, int) and piece > expression.groups for piece in pieces)
    if lacks_group or not (is_valid or everywhere):
        # RE2 replaces nothing where a group is named that the pattern lacks, nor once with an escape that it does not know.
        return np.array(texts, object)
    replace = _replacing if _always_takes_something(expression) else _replacing_stepwise
    replaced = replace(expression, pieces, [_decoded(text) for text in texts_of(texts)], 0 if everywhere else 1)
    return string_array([text.encode("utf-8", "surrogateescape") for text in replaced], np.shape(texts))


@functools.lru_cache(maxsize=64)
def _always_takes_something(expression: re.Pattern[str]) -> bool:
    """Whether no match is empty. Those that look at what is around them may be, in some text; other expressions in all."""
    looks_around = any(
        match["other"] in ("^", "$") or match["escape"] in _AROUND for match in _TOKEN.finditer(expression.pattern)
    )
    return not looks_around and expression.fullmatch("") is None


_AROUND = (r"\A", r"\Z", r"\b", r"\B")


def _replacing(expression: re.Pattern[str], pieces: Pieces, texts: list[str], most: int) -> list[str]:
    """What becomes of the texts; `most`: how many matches are replaced in each, 0 for all."""
    replacement: Any = lambda match: _rendered(pieces, match)  # noqa: E731 (one of two)
    if all(isinstance(piece, str) for piece in pieces):
        replacement = "".join(map(str, pieces)).replace("\\", r"\\")
    return [expression.sub(replacement, text, most) for text in texts]


def _replacing_stepwise(expression: re.Pattern[str], pieces: Pieces, texts: list[str], most: int) -> list[str]:
    """The same where matches may be empty: RE2 finds none where the last match ended, `re` does."""

    def replaced(text: str) -> str:
        parts: list[str] = []
        end, touched, count = 0, -1, 0
        for match in expression.finditer(text):
            if match.end() == match.start() == touched:
                continue
            parts += [text[end : match.start()], _rendered(pieces, match)]
            end = touched = match.end()
            count += 1
            if count == most:
                break
        return "".join([*parts, text[end:]])

    return [replaced(text) for text in texts]


def _pieces(rewrite: str) -> tuple[Pieces, bool]:
    r"""What to put for a match: texts and numbers of groups. `\0` is the match, `\1` to `\9` its groups, `\\` a backslash.

    At any other escape the text stops. Also returned: whether there is none.
    """
    pieces: Pieces = []
    for literal, escaped in re.findall(r"([^\\]+)|\\(.?)", rewrite, re.DOTALL):
        if literal or escaped == "\\":
            pieces.append(literal or escaped)
        elif escaped.isdecimal():
            pieces.append(int(escaped))
        else:
            return pieces, False
    return pieces, True


def _rendered(pieces: Pieces, match: re.Match[str]) -> str:
    return "".join(piece if isinstance(piece, str) else match[piece] or "" for piece in pieces)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Tensor:
    r"""Each string with the matches of `pattern` (or the first one) replaced by `rewrite` (`\1`: what group 1 matched).

    Patterns and rewrites given both as Python text become attributes of the node. Source: `tf.regex_replace`.
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        replaced: Tensor = static_regex_replace_op(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    else:
        replaced = regex_replace_op(input, pattern, rewrite, replace_global=replace_global, name=name)
    return replaced
