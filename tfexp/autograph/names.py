"""Which names statements bind and read in the function that they stand in, and which of these are live after a statement.

A name is live where its value may still be read. Of the names that a branch or a loop binds, those that are live after it
have to come out of it. Only the lowered form of a function (`jumps`) has this: no statement in it jumps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Names = frozenset[str]
_NONE: Names = frozenset()


def _together(sets: Iterable[Names]) -> Names:
    return _NONE.union(*sets)


def bound(nodes: Iterable[ast.AST]) -> Names:
    """The names that are bound (or deleted) by `nodes` themselves, not by the functions and classes in them."""
    return _together(_bound(node) for node in nodes)


def _bound(node: ast.AST) -> Names:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return frozenset([name])
        case ast.Lambda():
            return _NONE
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset([name])
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return frozenset((alias.asname or alias.name).partition(".")[0] for alias in aliases)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return frozenset(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
    inner = bound(ast.iter_child_nodes(node))
    match node:
        case (
            ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name))
        ) | ast.MatchMapping(rest=str(name)):
            return inner | {name}
    return inner


def declared(body: Sequence[ast.stmt]) -> tuple[Names, Names]:
    """The names that a function declares global, and those it declares nonlocal."""
    globals_: set[str] = set()
    nonlocals: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Global):
            globals_.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            nonlocals.update(node.names)
        elif not isinstance(node, SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(globals_), frozenset(nonlocals)


def parameters(arguments: ast.arguments) -> list[str]:
    """The names of a function's parameters, in order."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in [*found, arguments.vararg, arguments.kwarg] if argument is not None]


def read(node: ast.AST | Iterable[ast.AST]) -> Names:
    """The names of the function around that `node` reads or deletes, or that functions in it do."""
    if not isinstance(node, ast.AST):
        return _together(read(part) for part in node)
    match node:
        case ast.Name(id=name, ctx=ast.Load() | ast.Del()):
            return frozenset([name])
        case ast.AugAssign(target=ast.Name(id=name)):
            return read(node.value) | {name}
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outside = read([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])
            return outside | _free(node.args, node.body)
        case ast.Lambda():
            return read([*node.args.defaults, *filter(None, node.args.kw_defaults)]) | _free(node.args, [node.body])
        case ast.ClassDef():
            return read([*node.decorator_list, *node.bases, *node.keywords, *node.body])
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            targets = bound(comprehension.target for comprehension in node.generators)
            first = node.generators[0].iter
            return read(first) | (read(ast.iter_child_nodes(node)) - targets)
    return read(ast.iter_child_nodes(node))


def _free(arguments: ast.arguments, body: Sequence[ast.AST]) -> Names:
    globals_, nonlocals = declared(body)  # type: ignore[arg-type]
    own = (bound(body) | frozenset(parameters(arguments))) - nonlocals
    return (read(body) | nonlocals) - own - globals_


def captured(nodes: Iterable[ast.AST]) -> dict[str, Names]:
    """What the functions and lambdas read of the function around that have a name in it, by that name.

    What is another name of theirs, or a list, tuple or dict that holds them, reads what they read.
    """
    found: dict[str, Names] = {}
    held: dict[str, Names] = {}
    _collect(nodes, found, held)
    while more := {name for name, names in held.items() if names & found.keys() - found.get(name, _NONE) - {name}}:
        for name in more:
            found[name] = found.get(name, _NONE) | (held[name] & found.keys())
    return found


def _collect(nodes: Iterable[ast.AST], found: dict[str, Names], held: dict[str, Names]) -> None:
    """Into `found`: what functions and lambdas read, by their names; into `held`: the names that others are made of."""
    for node in nodes:
        match node:
            case ast.FunctionDef(args=arguments, body=body) | ast.AsyncFunctionDef(args=arguments, body=body):
                found[node.name] = found.get(node.name, _NONE) | _free(arguments, body)
            case ast.Assign(value=ast.expr() as made) | ast.AnnAssign(value=ast.expr() as made):
                parts = list(_parts(made))
                lambdas = [_free(part.args, [part.body]) for part in parts if isinstance(part, ast.Lambda)]
                for name in bound([node]):
                    held[name] = held.get(name, _NONE) | {part.id for part in parts if isinstance(part, ast.Name)}
                    if lambdas:
                        found[name] = found.get(name, _NONE).union(*lambdas)
        if not isinstance(node, SCOPES):
            _collect(ast.iter_child_nodes(node), found, held)


def _parts(value: ast.AST) -> Iterator[ast.AST]:
    """A value, or what a list, tuple or dict holds."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Dict)):
        for part in ast.iter_child_nodes(value):
            yield from _parts(part)
    else:
        yield value


def bound_parts(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    """The parts `a.b`, `a['k']`, `a[i]` of objects that `nodes` themselves assign to."""
    found: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_path(node):
            found.append(node)
        if not isinstance(node, SCOPES):
            found += bound_parts(ast.iter_child_nodes(node))
    return found


def _is_path(node: ast.AST) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Attribute():
            return _is_path(node.value)
        case ast.Subscript(slice=ast.Constant() | ast.Name()):
            return _is_path(node.value)
    return False


class Liveness:
    """What is live after the `if`s and loops of a function's lowered body, by their nodes.

    `at_end` is live at the end of the body: what it returns, and what outlives the call. `after[node]` is live after an
    `if` or a loop; `around[node]` is live at the head of a loop: what its next iteration, its test or its successors read.
    """

    def __init__(self, body: Sequence[ast.stmt], at_end: Names):
        self.after: dict[ast.stmt, Names] = {}
        self.around: dict[ast.stmt, Names] = {}
        self._where_raised: Names = _NONE  # what is live where an exception is handled that may be raised anywhere
        self._captured = captured(body)
        self._block(body, at_end)

    def _block(self, body: Sequence[ast.stmt], live: Names) -> Names:
        for statement in reversed(body):
            live = self._with_captured(self._before(statement, live)) | self._where_raised
        return live

    def _with_captured(self, live: Names) -> Names:
        """With a function, what it will read when it is called."""
        found = live
        while more := _together(self._captured[name] for name in found & self._captured.keys()) - found:
            found |= more
        return found

    def _before(self, node: ast.stmt, live: Names) -> Names:
        """What is live before a statement, of what is live after it."""
        match node:
            case ast.If():
                self.after[node] = live
                return read(node.test) | self._block(node.body, live) | self._block(node.orelse, live)
            case ast.While():
                return self._loop(node, live, read(node.test), _NONE)
            case ast.For():
                targets = bound([node.target])
                going_on: ast.expr | None = getattr(node, "going_on", None)
                tested = read(going_on) if going_on is not None else _NONE
                head = self._loop(node, live, tested | read(node.target), targets)
                return read(node.iter) | head
            case ast.With():
                inside = self._block(node.body, live)
                kept = inside - bound(item.optional_vars for item in node.items if item.optional_vars)
                return kept | read(node.items)
            case ast.Try() | ast.TryStar():
                return self._try(node, live)
            case ast.Match():
                return read(node.subject) | live.union(
                    *(self._block(case.body, live) | (read(case.guard) if case.guard else _NONE) for case in node.cases)
                )
            case ast.Return():
                return read(node.value) if node.value else _NONE
            case ast.Raise():
                return read(node)
        return (live - bound([node])) | read(node)

    def _try(self, node: ast.Try | ast.TryStar, live: Names) -> Names:
        live = self._block(node.finalbody, live)
        handled = [
            (self._block(handler.body, live) - {handler.name or ""}) | (read(handler.type) if handler.type else _NONE)
            for handler in node.handlers
        ]
        around = self._where_raised
        self._where_raised = around.union(*handled, live if node.finalbody else _NONE)
        live = self._block(node.body, self._block(node.orelse, live))
        self._where_raised = around
        return live

    def _loop(self, node: ast.While | ast.For, live: Names, tested: Names, targets: Names) -> Names:
        head = live | tested
        while True:
            again = head | (self._block(node.body, head) - targets)
            if again == head:
                break
            head = again
        self.after[node], self.around[node] = live, head
        return head
