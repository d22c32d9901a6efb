"""The rewriting of a function: branches and loops become functions that `operators` calls, or builds a graph of.

    if x > 0:              def if_body__():
        y = f(x)               nonlocal y
    else:                      y = ag__.call(f)(x)
        y = -x             def else_body__():
                               nonlocal y
                               y = -x
                           ag__.if_(x > 0, if_body__, else_body__, ('y',), ())

The names that the bodies bind stay variables of the function, shared through its cells: with a Python condition everything
is as it was, closures included, and with a tensor `operators` puts its tensors into the cells. Nodes keep their lines.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from tfexp.autograph.feature import Feature
from tfexp.autograph.jumps import is_generator, lowered
from tfexp.autograph.names import SCOPES, Liveness, Names, bound, bound_parts, declared, parameters, read
from tfexp.autograph.source import ConversionError, Found

OPERATORS = "ag__"

Node = TypeVar("Node", bound=ast.AST)


def converted_tree(found: Found, features: frozenset[Feature]) -> ast.FunctionDef | ast.Lambda:
    """A definition in its converted form, without its decorators; `ag__` in it is an `operators.Operators`."""
    node = copy.deepcopy(found.node)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
        made: Any = _Function(node.args, found.owner, features).definition(node)
    else:
        made = _Function(node.args, found.owner, features).function(node)
    return made


class _Function(ast.NodeTransformer):
    """The statements and expressions of one function; the functions in it get a `_Function` of their own."""

    def __init__(self, arguments: ast.arguments, owner: str | None, features: frozenset[Feature]):
        self._parameters = parameters(arguments)
        self._owner = owner
        self._features = features
        self._globals: Names = frozenset()
        self._shared: set[str] = set()  # the names that bodies bind
        self._liveness: Liveness

    # --- the function itself --------------------------------------------------------------------------------------------

    def definition(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """`node` with its body converted; a generator, which could not yield in the body of a loop, is left as it is."""
        if is_generator(node):
            return node
        self._globals, nonlocals = declared(node.body)
        documented = ast.get_docstring(node, clean=False) is not None
        first, body = node.body[:documented], node.body[documented:]
        if Feature.LISTS in self._features:
            body = [_Appends(bound(body) | {*self._parameters}).visit(statement) for statement in body]
        body = lowered(body) if body else []
        self._liveness = Liveness(body, self._globals | nonlocals)
        made = self._block(body)
        declarations: list[ast.stmt] = []
        if self._globals:
            declarations.append(ast.Global(sorted(self._globals)))
        if nonlocals:
            declarations.append(ast.Nonlocal(sorted(nonlocals)))
        for name in sorted(self._shared - self._globals - nonlocals - {*self._parameters}):
            # Says that the name is a variable of this function, without giving it a value.
            target, kind = ast.Name(name, ast.Store()), ast.Constant("shared")
            declarations.append(ast.AnnAssign(target, kind, None, 1))
        for declaration in declarations:
            _place(declaration, node)
        node.body = [*first, *declarations, *made] or [_place(ast.Pass(), node)]
        return node

    def function(self, node: ast.Lambda) -> ast.Lambda:
        node.body = self.visit(node.body)
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            made.extend(result if isinstance(result, list) else [result] if result is not None else [])
        return made

    # --- branches and loops ---------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        changed = bound([*node.body, *node.orelse])
        state = self._state([*node.body, *node.orelse], changed, self._liveness.after[node])
        bodies = [
            self._body("if_body__", self._block(node.body), changed, node),
            self._body("else_body__", self._block(node.orelse), changed, node.orelse[0] if node.orelse else node),
        ]
        call = self._operator("if_", node, self.visit(node.test), _name("if_body__"), _name("else_body__"), *state)
        return [*bodies, _place(ast.Expr(call), node)]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        options, body = _options(node.body)
        changed = bound([*body, node.test])
        state, grown = self._loop_state(node, changed), _grown(node.body)
        test = _place(ast.Return(self.visit(node.test)), node.test)
        functions = [
            self._body("loop_test__", [test], changed, node.test),
            self._body("loop_body__", self._block(body), changed, node),
        ]
        call = self._operator("while_", node, _name("loop_test__"), _name("loop_body__"), *state)
        self._give_options(call, options, grown)
        return [*functions, _place(ast.Expr(call), node)]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        options, body = _options(node.body)
        changed = bound([*body, node.target])
        state, grown = self._loop_state(node, changed), _grown(node.body)
        taken = _place(ast.Assign([self.visit(node.target)], _name("item__")), node.target)
        functions = [self._body("loop_body__", [taken, *self._block(body)], changed, node, "item__")]
        call = self._operator("for_", node, self.visit(node.iter), _name("loop_body__"), *state)
        going_on: ast.expr | None = getattr(node, "going_on", None)
        if going_on is not None:
            test = _place(ast.Return(self.visit(going_on)), node)
            functions.insert(0, self._body("going_on__", [test], frozenset(), node))
            call.keywords.append(ast.keyword("going_on", _place(_name("going_on__"), node)))
        self._give_options(call, options, grown)
        return [*functions, _place(ast.Expr(call), node)]

    def _body(self, name: str, body: list[ast.stmt], changed: Names, at: ast.AST, *arguments: str) -> ast.stmt:
        """A function of this function's variables."""
        self._shared |= changed
        declarations: list[ast.stmt] = []
        if changed & self._globals:
            declarations.append(ast.Global(sorted(changed & self._globals)))
        if changed - self._globals:
            declarations.append(ast.Nonlocal(sorted(changed - self._globals)))
        made = ast.FunctionDef(name, _arguments(*arguments), [*declarations, *(body or [ast.Pass()])], [], None)
        return _place(made, at)

    def _state(self, body: Sequence[ast.AST], changed: Names, live: Names) -> list[ast.expr]:
        """What a body changes: the names that are live and the parts of objects, and the other names."""
        parts = {self._mangled(part) for part in bound_parts(body) if not read(part) & changed}
        names = [self._mangled(_name(name)) for name in sorted(changed & live)]
        return [_strings(names + sorted(parts)), _strings(self._mangled(_name(name)) for name in sorted(changed - live))]

    def _loop_state(self, node: ast.For | ast.While, changed: Names) -> list[ast.expr]:
        """The state of a loop, whose third part is the names that only the next iteration reads."""
        after, around = self._liveness.after[node], self._liveness.around[node]
        again = _strings(self._mangled(_name(name)) for name in sorted(changed & (around - after)))
        targets = [node.target] if isinstance(node, ast.For) else []
        return [*self._state([*node.body, *targets], changed, around), again]

    def _mangled(self, node: ast.expr) -> str:
        """A name, or a part of an object, as text, with the private names of a class as the class makes them."""
        node = copy.deepcopy(node)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                inner.id = self._of_class(inner.id)
            elif isinstance(inner, ast.Attribute):
                inner.attr = self._of_class(inner.attr)
        return ast.unparse(node)

    def _of_class(self, name: str) -> str:
        hidden = self._owner is not None and name.startswith("__") and not name.endswith("__")
        return f"_{(self._owner or '').lstrip('_')}{name}" if hidden else name

    def _give_options(self, call: ast.Call, options: ast.Call | None, grown: Names) -> None:
        if grown:
            call.keywords.append(ast.keyword("grown", _place(_strings(sorted(grown)), call)))
        if options is not None:
            given = _place(ast.Lambda(_arguments(), self.visit(options)), options)
            call.keywords.append(ast.keyword("options", given))

    # --- other statements -----------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._visit_defaults(node.args)
        return _Function(node.args, self._owner, self._features).definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        body = _ClassBody(node.name, self._features)
        node.body = [body.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        # A variable that is shared by bodies cannot be annotated.
        if node.value is None:
            return _place(ast.Pass(), node)
        return _place(ast.Assign([self.visit(node.target)], self.visit(node.value)), node)

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return _place(ast.Pass(), node)  # it is declared at the beginning of the function

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        return _place(ast.Pass(), node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = self.visit(node.msg) if node.msg else ast.Constant(None)
        call = self._operator("assert_", node, self.visit(node.test), self._later(message))
        return _place(ast.Expr(call), node)

    # --- expressions ----------------------------------------------------------------------------------------------------

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._visit_defaults(node.args)
        return _Function(node.args, self._owner, self._features).function(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(argument) for argument in node.args]
        keywords = [_place(ast.keyword(keyword.arg, self.visit(keyword.value)), keyword) for keyword in node.keywords]
        function = node.func
        if _is_operator(function):
            return _place(ast.Call(function, arguments, keywords), node)
        if _looks_around(node):
            raise ConversionError(
                f"line {node.lineno}: `{ast.unparse(node)}` sees the variables of the function as it stands"
            )
        if isinstance(function, ast.Name) and function.id == "super" and not arguments and self._parameters:
            # In a body, `super()` does not find the class and the object by itself.
            arguments = [_place(_name("__class__"), node), _place(_name(self._parameters[0]), node)]
            return _place(ast.Call(function, arguments, keywords), node)
        called = self._operator("call", function, self.visit(function))
        return _place(ast.Call(called, arguments, keywords), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if _binds(node):
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._operator(operator, node, *(self._later(self.visit(value)) for value in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self._operator("not_", node, operand)
        return _place(ast.UnaryOp(node.op, operand), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _binds(node):
            return node
        chosen = self._later(self.visit(node.body)), self._later(self.visit(node.orelse))
        return self._operator("if_exp", node, self.visit(node.test), *chosen)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        values = [self.visit(value) for value in (node.left, *node.comparators)]
        by_value = Feature.EQUALITY_OPERATORS in self._features and any(
            isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops
        )
        if _binds(node) or (len(node.ops) == 1 and not by_value):
            return _place(ast.Compare(values[0], node.ops, values[1:]), node)
        # Each value once, and only as far as the comparisons hold.
        comparisons = [self._comparison(op, node) for op in node.ops]
        return self._operator(
            "compare",
            node,
            values[0],
            *(
                _place(ast.Tuple([how, self._later(value)], ast.Load()), node)
                for how, value in zip(comparisons, values[1:], strict=True)
            ),
        )

    def _comparison(self, op: ast.cmpop, at: ast.AST) -> ast.expr:
        """A comparison as a function of two values."""
        if Feature.EQUALITY_OPERATORS in self._features and isinstance(op, (ast.Eq, ast.NotEq)):
            how = "eq" if isinstance(op, ast.Eq) else "not_eq"
            return _place(ast.Attribute(_name(OPERATORS), how, ast.Load()), at)
        compared = ast.Compare(_name("a__"), [op], [_name("b__")])
        return _place(ast.Lambda(_arguments("a__", "b__"), compared), at)

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]

    def _later(self, value: ast.expr) -> ast.expr:
        return _place(ast.Lambda(_arguments(), value), value)

    def _operator(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(_name(OPERATORS), name, ast.Load())
        return _place(ast.Call(function, list(arguments), []), at)


class _Appends(ast.NodeTransformer):
    """`items.append(item)` as an assignment, for variables of the function: the list that there is then."""

    def __init__(self, variables: Names):
        self._variables = variables

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, (*SCOPES, ast.expr)) else super().visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]):
                if name in self._variables:
                    grown = ast.Call(ast.Attribute(_name(OPERATORS), "append", ast.Load()), [_name(name), item], [])
                    return _place(ast.Assign([ast.Name(name, ast.Store())], grown), node)
        return node


class _ClassBody(ast.NodeTransformer):
    """What stands in a class: the functions in it are converted, the rest is left."""

    def __init__(self, owner: str, features: frozenset[Feature]):
        self._owner = owner
        self._features = features

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return _Function(node.args, self._owner, self._features).definition(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return _Function(node.args, self._owner, self._features).function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [_ClassBody(node.name, self._features).visit(statement) for statement in node.body]
        return node


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _strings(texts: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(text) for text in texts], ast.Load())


def _arguments(*names: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _is_operator(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == OPERATORS


def _looks_around(call: ast.Call) -> bool:
    """Whether a call looks for the variables of the function that it stands in, which bodies do not all have."""
    name = call.func.id if isinstance(call.func, ast.Name) else None
    return (name in ("locals", "vars", "dir") and not call.args) or (name in ("eval", "exec") and len(call.args) == 1)


def _grown(nodes: Iterable[ast.AST]) -> Names:
    """The names of the lists that `nodes` append to."""
    found: Names = frozenset()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="append") as function, args=[ast.Name(id=name), _]) if _is_operator(
                function
            ):
                found |= {name}
        found |= frozenset() if isinstance(node, SCOPES) else _grown(ast.iter_child_nodes(node))
    return found


def _binds(node: ast.AST) -> bool:
    """Whether an expression binds names, for which it has to stay where it is."""
    return any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


def _options(body: list[ast.stmt]) -> tuple[ast.Call | None, list[ast.stmt]]:
    """The call to `tf.autograph.experimental.set_loop_options` that a loop's body begins with, and the rest of the body."""
    first = next((i for i, statement in enumerate(body) if not hasattr(statement, "flag")), 0)
    match body[first]:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="set_loop_options") | ast.Name(id="set_loop_options")) as call):
            return call, [*body[:first], *(body[first + 1 :] or [_place(ast.Pass(), call)])]
    return None, body


def _place(node: Node, at: ast.AST) -> Node:
    """`node`, and what is new in it, at the place of another; of a branch or loop, at that of its head."""
    at = _head(at)
    ast.copy_location(node, at)
    pending: list[Any] = [node]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if not hasattr(child, "lineno") and "lineno" in child._attributes:
                ast.copy_location(child, at)
                pending.append(child)
            elif not child._attributes:
                pending.append(child)
    return node


def _head(node: ast.AST) -> ast.AST:
    """Something at the place of `node`, or of what comes before its body."""
    if not isinstance(node, (ast.If, ast.While, ast.For)):
        return node
    end = node.iter if isinstance(node, ast.For) else node.test
    on_one_line = end.end_lineno == node.lineno
    return ast.Pass(
        lineno=node.lineno,
        col_offset=node.col_offset,
        end_lineno=node.lineno,
        end_col_offset=end.end_col_offset if on_one_line else node.col_offset,
    )
