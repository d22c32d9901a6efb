"""`return`, `break` and `continue` turned into plain structure: what follows a jump moves to where no jump was taken.

    if c: return a      if c: return__ = a        for x in xs:              break__ = False
    return b            else: return__ = b            if c: break           for x in xs while not break__:
                        return return__               f(x)                      if c: break__ = True
                                                                                else: f(x)

What follows an `if` one branch of which always jumps moves into the other branch. Elsewhere a flag says that a jump was
taken, and what follows it is guarded by the flag. Names that end in two underscores are AutoGraph's. A `for` that ends early
has the attribute `going_on`: the test whether it goes on after an iteration.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfexp.autograph.names import SCOPES
from tfexp.autograph.source import ConversionError

RETURN_VALUE = "return__"
_RETURNED = "returned__"

_JUMPS = (ast.Return, ast.Break, ast.Continue)
_FLAG = re.compile(r"(returned|break\d*|continue\d*)__")
Flags = frozenset[str]
_NONE: Flags = frozenset()


def lowered(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The body of a function with no jumps in it but a `return` at the end; the nodes of `body` are left as they are."""
    *before, last = body
    if not isinstance(last, ast.Return):
        before = list(body)
    if not any(_is_loop_else(node) or isinstance(node, _JUMPS) for statement in before for node in _own_nodes(statement)):
        return list(body)
    return _Lowering().function(body)


def spoken(name: str) -> str:
    """A variable in an error message."""
    return "the returned value" if name == RETURN_VALUE else repr(name)


def is_flag(name: str) -> bool:
    """Whether a variable is a flag that says that a jump was taken."""
    return _FLAG.fullmatch(name) is not None


def _own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """`node` and what is in it, functions and classes apart."""
    yield node
    if not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _own_nodes(child)


def is_generator(node: ast.FunctionDef) -> bool:
    """Whether calling it gives a generator."""
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for part in node.body for inner in _own_nodes(part))


def _jumps(node: ast.AST) -> bool:
    """Whether there is a jump in `node`."""
    return any(isinstance(inner, _JUMPS) for inner in _own_nodes(node))


def _is_loop_else(node: ast.AST) -> bool:
    return isinstance(node, (ast.For, ast.While)) and bool(node.orelse)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether nothing that follows `body` is reached after it."""
    return any(_never_passes(statement) for statement in body)


def _never_passes(node: ast.stmt) -> bool:
    match node:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.If():
            return _ends(node.body) and _ends(node.orelse)
        case ast.With():
            # What a context manager swallows goes on after it.
            return _ends(node.body) and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    return False


@dataclass(frozen=True)
class _Loop:
    """The flags of the loop around a statement."""

    broken: str
    continued: str


class _Lowering:
    """The lowering of one function. `_tested` are the flags that something depends on: the others are not kept."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tested: set[str] = set()

    def function(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        last = body[-1]
        early = body[:-1] if isinstance(last, ast.Return) else body
        if not any(isinstance(node, ast.Return) for statement in early for node in _own_nodes(statement)):
            made, _ = self._block(early, None)
            return self._kept([*made, *body[len(early) :]])
        if not _ends(body):
            body = [*body, ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), last)), last)]
        made, _ = self._block(body, None)
        if _RETURNED in self._tested:
            made.insert(0, _assign(_RETURNED, ast.Constant(False), made[0]))
        made.append(ast.copy_location(ast.Return(_load(RETURN_VALUE, last)), last))
        return self._kept(made)

    def _block(self, body: Sequence[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], Flags]:
        """The statements for `body`, and the flags that they may raise."""
        made: list[ast.stmt] = []
        for i, node in enumerate(body):
            following = body[i + 1 :]
            match node:
                case ast.Return():
                    value = node.value or ast.copy_location(ast.Constant(None), node)
                    made += [_assign(RETURN_VALUE, value, node), _assign(_RETURNED, ast.Constant(True), node)]
                    return made, frozenset([_RETURNED])
                case ast.Break() | ast.Continue():
                    assert loop is not None
                    flag = loop.broken if isinstance(node, ast.Break) else loop.continued
                    made.append(_assign(flag, ast.Constant(True), node))
                    return made, frozenset([flag])
                case ast.If() if _jumps(node):
                    statements, flags = self._branches(node, following, loop)
                    return made + statements, flags
                case ast.For() | ast.While():
                    statements, flags = self._loop(node, loop)
                case _ if _jumps(node) and not isinstance(node, SCOPES):
                    statements, flags = self._parts(node, loop)
                case _:
                    made.append(node)
                    continue
            made += statements
            if flags:
                return self._guarded(made, flags, following, loop, node)
        return made, _NONE

    def _branches(self, node: ast.If, following: Sequence[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], Flags]:
        first, second = list(node.body), list(node.orelse)
        if _ends(first):
            second, following = [*second, *following], []
        elif _ends(second):
            first, following = [*first, *following], []
        body, flags = self._block(first, loop)
        orelse, more = self._block(second, loop)
        made: list[ast.stmt] = [ast.copy_location(ast.If(node.test, body, orelse), node)]
        return self._guarded(made, flags | more, following, loop, node)

    def _guarded(
        self, made: list[ast.stmt], flags: Flags, following: Sequence[ast.stmt], loop: _Loop | None, at: ast.stmt
    ) -> tuple[list[ast.stmt], Flags]:
        """`made`, and what follows it where none of the flags is raised."""
        if not following:
            return made, flags
        rest, more = self._block(following, loop)
        guard = ast.copy_location(ast.If(self._none_of(flags, at), rest, []), following[0])
        return [*made, guard], flags | more

    def _none_of(self, flags: Flags, at: ast.AST) -> ast.expr:
        """The test that none of the flags is raised."""
        self._tested |= flags
        raised = [_load(flag, at) for flag in sorted(flags)]
        one = raised[0] if len(raised) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), list(raised)), at)
        return ast.copy_location(ast.UnaryOp(ast.Not(), one), at)

    def _loop(self, node: ast.For | ast.While, around: _Loop | None) -> tuple[list[ast.stmt], Flags]:
        number = next(self._numbers) or ""
        own = _Loop(f"break{number}__", f"continue{number}__")
        body, flags = self._block(node.body, own)
        if own.continued in self._tested:
            body.insert(0, _assign(own.continued, ast.Constant(False), node))
        left = flags - {own.continued}
        going_on = self._none_of(left, node) if left else None
        made: list[ast.stmt] = [_assign(own.broken, ast.Constant(False), node)] if own.broken in left else []
        if isinstance(node, ast.For):
            loop: ast.stmt = ast.For(node.target, node.iter, body, [])
            loop.going_on = going_on  # type: ignore[attr-defined]
        elif going_on is None:
            loop = ast.While(node.test, body, [])
        else:
            loop = ast.While(ast.copy_location(ast.BoolOp(ast.And(), [going_on, node.test]), node.test), body, [])
        made.append(ast.copy_location(loop, node))
        outward = left - {own.broken}
        if not node.orelse:
            return made, outward
        if not left:
            orelse, more = self._block(node.orelse, around)
            return made + orelse, more
        made, flags = self._guarded(made, left, node.orelse, around, node)
        return made, flags - {own.broken}

    def _parts(self, node: ast.stmt, loop: _Loop | None) -> tuple[list[ast.stmt], Flags]:
        """`with`, `try` and `match`, which stay what they are."""
        flags = _NONE

        def block(body: Sequence[ast.stmt]) -> list[ast.stmt]:
            nonlocal flags
            made, more = self._block(body, loop)
            flags |= more
            return made

        match node:
            case ast.With():
                new: ast.stmt = ast.With(node.items, block(node.body))
            case ast.Try() | ast.TryStar():
                if any(_jumps(statement) for statement in node.finalbody):
                    raise ConversionError(f"line {node.lineno}: a jump out of `finally` is not supported")
                body = block(node.body)
                if flags and node.orelse:
                    orelse, more = self._guarded([], flags, node.orelse, loop, node)
                    flags |= more
                else:
                    orelse = block(node.orelse)
                handlers = [ast.copy_location(ast.ExceptHandler(h.type, h.name, block(h.body)), h) for h in node.handlers]
                new = type(node)(body, handlers, orelse, node.finalbody)
            case ast.Match():
                cases = [ast.match_case(case.pattern, case.guard, block(case.body)) for case in node.cases]
                new = ast.Match(node.subject, cases)
            case _:
                raise ConversionError(f"line {node.lineno}: a jump out of `{type(node).__name__}` is not supported")
        return [ast.copy_location(new, node)], flags

    def _kept(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """`body` without the assignments to flags that nothing depends on."""
        kept = _Unneeded(self._tested).visit(ast.Module(body, []))
        assert isinstance(kept, ast.Module)
        return kept.body


class _Unneeded(ast.NodeTransformer):
    """Takes out the assignments to flags that are not tested."""

    def __init__(self, tested: Iterable[str]):
        self._tested = set(tested)

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, (*SCOPES, ast.expr)):
            return node
        if hasattr(node, "flag") and node.flag not in self._tested:
            return None
        at = node.body[0] if getattr(node, "body", None) else node  # type: ignore[attr-defined]
        visited: ast.AST = self.generic_visit(node)
        if getattr(visited, "body", None) == []:
            visited.body = [ast.copy_location(ast.Pass(), at)]  # type: ignore[attr-defined]
        return visited


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    if not hasattr(value, "lineno"):
        ast.copy_location(value, at)
    made = ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), at)], value), at)
    if name != RETURN_VALUE:
        made.flag = name  # type: ignore[attr-defined]
    return made


def _load(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)
