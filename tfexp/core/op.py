"""Ops: TensorFlow's signatures, and what tfexp knows about each (shape rule, kernels, gradient).

`define_op` takes one line of TensorFlow's op registry and returns the `Op`, which is callable (it builds a node, through
the builder that `graph.apply` installs) and whose decorators attach the op's meanings:

    matmul = define_op("MatMul(a: T, b: T) -> (product: T) {transpose_a: bool = false; ...; T: type in [...]}")

    @matmul.shape                      # TensorShapes in, a shape out; ValueError when no shape can work
    def _(a, b, *, transpose_a, transpose_b): ...

    @matmul.kernel("CPU")              # arrays in, arrays out
    def _(ctx, a, b, *, transpose_a, transpose_b): ...

    @matmul.bind                       # optional: what the planner may call instead, for one node (core.kernel.Call)
    def _(node): return Call(np.matmul, out=True)

    @matmul.gradient                   # Tensors in, Tensors out, built from ops
    def _(op, grad): ...

Attributes reach shape rules and kernels by name, those that the function declares. An input `values: N * T` arrives as a
list. A function for an op with exactly one, single output returns that output; any other returns a flat sequence, one
element for each output tensor.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import Call, Kernel
from tfexp.core.shape import TensorShape
from tfexp.core.text import snake_case

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Arg:
    """One input or output of a signature: `values: N * T`, `ref: ref T`, `data: Ts` (a list(type)), `x: float`."""

    name: str
    dtype: DType | None = None  # fixed type, or
    type_attr: str | None = None  # the attr that names one type, or
    type_list_attr: str | None = None  # the attr that names a list of types
    number_attr: str | None = None  # `N * T`: the attr that counts
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: Mapping[str, Any]) -> int:
        """How many tensors it stands for in a node of these attrs."""
        if self.number_attr is not None:
            return int(attrs[self.number_attr])
        return 1 if self.type_list_attr is None else len(attrs[self.type_list_attr])


@dataclass(frozen=True)
class Attr:
    """One attribute of a signature. `kind` is type, int, float, bool, string, shape, tensor, func or list(one of these)."""

    name: str
    kind: str
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None
    default: Any = None
    has_default: bool = False

    @property
    def written_default(self) -> Any:
        """The default as one would write it."""
        if self.kind == "float":
            return float(str(np.float32(self.default)))
        if self.kind == "list(float)":
            return [float(str(np.float32(one))) for one in self.default]
        if isinstance(self.default, TensorShape):
            return None if self.default.rank is None else self.default.as_list()
        return self.default


@dataclass(eq=False, repr=False)
class Op:
    """A registered op. Call it with its inputs (positional or by name), attrs and `name=` to build a node.

    Where programs treat it as the function that TensorFlow has, it is like one: it has a name and a signature, and a copy
    or a pickle of it is the op itself.
    """

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, Attr]
    is_stateful: bool
    is_commutative: bool
    is_aggregate: bool
    allows_uninitialized_input: bool
    signature: str
    writes_refs: bool  # whether the kernel may write to its ref inputs
    on_variables: bool = False  # whether its resource inputs and outputs are variables' handles, which count as references
    shape_rule: Rule | None = None
    kernels: dict[str, Kernel] = field(default_factory=dict)
    bind_rule: Callable[[Any], Call | None] | None = None
    library_rules: dict[str, Callable[[Any, Any], Call | None]] = field(default_factory=dict)

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        if _builder is None:
            raise RuntimeError(f"{self.name}: nothing builds nodes yet; import tfexp first")
        count = len(self.inputs)
        if len(args) > count and len(args) <= count + len(self.after_inputs):
            given = dict(zip(self.after_inputs, args[count:], strict=False))
            if repeated := given.keys() & (kwargs.keys() | ({"name"} if name is not None else set())):
                raise TypeError(f"{self.name} got multiple values for argument {sorted(repeated)[0]!r}")
            name = given.pop("name", name)
            args, kwargs = args[:count], {**kwargs, **given}
        return _builder(self, args, kwargs, name)

    @property
    def __name__(self) -> str:
        """The name that a program gives as a function's, as Keras does when it writes down an activation: `bias_add`."""
        return snake_case(self.name)

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        defaults = {"name": None} | {attr.name: attr.written_default for attr in self.attrs.values() if attr.has_default}
        names = (*self.input_names, *self.after_inputs)
        kind, required = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature([inspect.Parameter(name, kind, default=defaults.get(name, required)) for name in names])

    def __reduce__(self) -> tuple[Any, ...]:
        return get_op, (self.name,)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    @functools.cached_property
    def after_inputs(self) -> tuple[str, ...]:
        """What may follow the inputs by position, as in TensorFlow's own functions: attrs without default, others, name."""
        inferred = {key for arg in self.inputs for key in (arg.type_attr, arg.type_list_attr, arg.number_attr)}
        free = [attr for attr in self.attrs.values() if attr.name not in inferred]
        return (*(a.name for a in free if not a.has_default), *(a.name for a in free if a.has_default), "name")

    def __getattr__(self, name: str) -> Any:
        if name == "__qualname__":  # decorators copy a function's; in a class body it would be the class's own
            return self.__name__
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # What follows from the signature and is asked for each node.

    @functools.cached_property
    def input_names(self) -> tuple[str, ...]:
        return tuple(arg.name for arg in self.inputs)

    @functools.cached_property
    def has_list_inputs(self) -> bool:
        return any(arg.is_list for arg in self.inputs)

    @functools.cached_property
    def has_ref_inputs(self) -> bool:
        return any(arg.is_ref for arg in self.inputs)

    @functools.cached_property
    def has_refs(self) -> bool:
        """Whether an input or an output is a reference."""
        return self.has_ref_inputs or any(arg.is_ref for arg in self.outputs)

    @functools.cached_property
    def reaches_variables(self) -> bool:
        """Whether an input is a reference, or the handle of a variable."""
        return self.has_ref_inputs or (self.on_variables and any(arg.dtype is dtypes.resource for arg in self.inputs))

    @functools.cached_property
    def has_single_output(self) -> bool:
        """Whether rules and kernels return the one output itself instead of a sequence."""
        return len(self.outputs) == 1 and not self.outputs[0].is_list

    def shape(self, rule: Rule) -> Rule:
        """Attach the shape rule: `rule(*input_shapes, **attrs)`; inputs are `core.shape.InputShape`s."""
        self.shape_rule = _only_declared(rule)
        return rule

    def kernel(
        self,
        *devices: str,
        view: bool = False,
        handle: bool = False,
        takes_dead: bool = False,
        shares: bool = False,
        waits: bool = False,
        may_block: bool = False,
        reads_variable: bool = False,
        static: tuple[str, ...] = (),
        floats: bool = False,
    ) -> Callable[[Rule], Rule]:
        """Attach `kernel(ctx, *arrays, **attrs)` for device types (`"CPU"`, `"XLA"`); the flags are `Kernel`'s."""

        def attach(function: Rule) -> Rule:
            flags = (view, handle, takes_dead, shares, waits, may_block, reads_variable, static, floats)
            kernel = Kernel(function, _declared_attrs(function), *flags)
            for device in devices:
                self.kernels[device] = kernel
            return function

        return attach

    def ufunc(self, function: Any, *devices: str) -> Any:
        """Attach a NumPy ufunc as the kernel: element-wise, broadcasting, able to write to `out=`."""
        kernel = Kernel(lambda ctx, *arrays: function(*arrays), ())
        for device in devices or ("CPU", "XLA"):
            self.kernels[device] = kernel
        call = Call(function, out=True, elementwise=True)
        self.bind_rule = lambda node: call
        return function

    def bind(self, rule: Callable[[Any], Call | None]) -> Callable[[Any], Call | None]:
        """Attach `rule(node) -> Call | None`: a direct callable for one node of known dtypes and shapes."""
        self.bind_rule = rule
        return rule

    def bind_with(self, library: str) -> Callable[[Rule], Rule]:
        """Attach `rule(library, node) -> Call | None` for sessions that asked for that library; None: it lacks the node."""

        def attach(rule: Rule) -> Rule:
            self.library_rules[library] = rule
            return rule

        return attach

    def gradient(self, rule: Rule) -> Rule:
        """Attach `rule(op, *output_gradients)`; returns one gradient (Tensor, IndexedSlices or None) per input."""
        register_gradient(self.name, rule)
        return rule

    def not_differentiable(self) -> Op:
        """Say that gradients stop here (None for every input). Returns the op, so that it chains."""
        register_gradient(self.name, None)
        return self


_OPS: dict[str, Op] = {}
_ON_FIRST_USE: dict[str, tuple[str, ...]] = {}  # op name -> the modules that define it and its gradient
_DEFINED_IN: dict[str, str] = {}
_GRADIENTS: dict[str, Rule | None] = {}
_builder: Callable[[Op, tuple[Any, ...], dict[str, Any], str | None], Any] | None = None


def define_op(signature: str, *, writes_refs: bool = True, on_variables: bool = False) -> Op:
    """Register the op that `signature` (a line in the form of TensorFlow's registry) declares; ValueError if taken."""
    op = parse_signature(signature, writes_refs, on_variables)
    if op.name in _OPS:
        raise ValueError(f"Op {op.name} is already defined")
    _OPS[op.name] = op
    _DEFINED_IN[op.name] = _importing()
    return op


def _importing() -> str:
    """The module whose body is running: functions that it calls may define ops for it."""
    frame = sys._getframe(2)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def define_on_first_use(modules: Sequence[str], names: Sequence[str]) -> None:
    """Say that importing `modules` registers these ops, which happens when one of them is first asked for."""
    _ON_FIRST_USE.update(dict.fromkeys(names, tuple(modules)))


def _load(name: str) -> None:
    for module in _ON_FIRST_USE.get(name, ()):
        importlib.import_module(module)
    # Only now: another thread that asks in the meantime has to wait for the import too.
    _ON_FIRST_USE.pop(name, None)


def modules_of(name: str) -> list[str]:
    """The modules that have to be imported for an op: the one that defines it, and its gradient's if that is another."""
    rule = _GRADIENTS.get(name)
    modules = [_DEFINED_IN[name], *([] if rule is None else [rule.__module__])]
    return list(dict.fromkeys(modules))


def get_op(name: str) -> Op:
    """The op of that name; KeyError when tfexp does not have it."""
    op = find_op(name)
    if op is None:
        raise KeyError(name)
    return op


def find_op(name: str) -> Op | None:
    _load(name)
    return _OPS.get(name)


def all_ops() -> dict[str, Op]:
    """Every op of the library by name (a copy)."""
    for name in list(_ON_FIRST_USE):
        _load(name)
    return dict(_OPS)


def register_gradient(op_type: str, rule: Rule | None) -> None:
    """Register a gradient under a name: an op type, or a key of `Graph.gradient_override_map`. KeyError if taken."""
    if op_type in _GRADIENTS:
        raise KeyError(f"Registering two gradient with name {op_type!r}!")
    _GRADIENTS[op_type] = rule


def remove_gradient(op_type: str) -> None:
    """Have no rule under that name any more; KeyError when there is none."""
    _load(op_type)
    del _GRADIENTS[op_type]


def get_gradient(op_type: str) -> Rule | None:
    """The gradient rule, None where gradients stop; LookupError when nothing is registered."""
    _load(op_type)
    try:
        return _GRADIENTS[op_type]
    except KeyError:
        raise LookupError(f"gradient registry has no entry for: {op_type}") from None


def set_builder(builder: Callable[[Op, tuple[Any, ...], dict[str, Any], str | None], Any]) -> None:
    """Install what a call of an `Op` does (`graph.apply`; eager mode puts itself in front)."""
    global _builder
    _builder = builder


def _declared_attrs(function: Rule) -> tuple[str, ...] | None:
    """The attributes that a rule or kernel takes by name; None when it takes all (`**attrs`)."""
    code = getattr(function, "__code__", None)
    if code is None:
        parameters = inspect.signature(function).parameters.values()
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
            return None
        return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    # The same for a plain function, without what `signature` costs some hundred times at import.
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    first = code.co_argcount
    names: tuple[str, ...] = code.co_varnames[first : first + code.co_kwonlyargcount]
    return names


def _only_declared(function: Rule) -> Rule:
    """`function`, with those keyword attributes left out that it does not declare."""
    names = _declared_attrs(function)
    if names is None:
        return function
    if not names:
        return lambda *args, **attrs: function(*args)
    return lambda *args, **attrs: function(*args, **{n: attrs[n] for n in names})


# --- the signature's grammar -------------------------------------------------------------------------------------

_SIGNATURE = re.compile(r"(\w+)\((.*?)\) -> \((.*?)\)(?: \{(.*)\})?(?: #(.*))?", re.DOTALL)
_ATTR = re.compile(r"(\w+): ([a-z]+(?:\([a-z]+\))?)(?: in \[(.*?)\])?(?: >= (-?\d+))?(?: = (.*))?", re.DOTALL)


def parse_signature(signature: str, writes_refs: bool = True, on_variables: bool = False) -> Op:
    """The Op that a signature line declares, not registered. ValueError when the line does not parse."""
    match = _SIGNATURE.fullmatch(signature.strip())
    if match is None:
        raise ValueError(f"Not an op signature: {signature!r}")
    name, inputs, outputs, attr_text, flags_text = match.groups()
    attrs = {attr.name: attr for attr in map(_parse_attr, _split(attr_text or "", ";"))}
    flags = set((flags_text or "").split())
    return Op(
        name=name,
        inputs=tuple(_parse_arg(text, attrs) for text in _split(inputs, ",")),
        outputs=tuple(_parse_arg(text, attrs) for text in _split(outputs, ",")),
        attrs=attrs,
        is_stateful="stateful" in flags,
        is_commutative="commutative" in flags,
        is_aggregate="aggregate" in flags,
        allows_uninitialized_input="uninitialized_input" in flags,
        signature=signature,
        writes_refs=writes_refs,
        on_variables=on_variables,
    )


def _split(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]


_arg = functools.cache(Arg)  # many ops share these, and their attributes' declarations


def _parse_arg(text: str, attrs: dict[str, Attr]) -> Arg:
    name, _, kind = text.partition(":")
    name, kind = name.strip(), kind.strip()
    is_ref = kind.startswith("ref ")
    number, star, kind_of_many = kind.removeprefix("ref ").partition("*")
    kind = (kind_of_many if star else number).strip()
    number_attr = number.strip() if star else None
    if kind not in attrs:
        return _arg(name, dtype=dtypes.as_dtype(kind), number_attr=number_attr, is_ref=is_ref)
    if attrs[kind].kind == "list(type)":
        return _arg(name, type_list_attr=kind, is_ref=is_ref)
    return _arg(name, type_attr=kind, number_attr=number_attr, is_ref=is_ref)


@functools.cache
def _parse_attr(text: str) -> Attr:
    match = _ATTR.fullmatch(text)
    if match is None:
        raise ValueError(f"Not an attribute of an op signature: {text!r}")
    name, kind, allowed, minimum, default = match.groups()
    element = kind[5:-1] if kind.startswith("list(") else kind
    return Attr(
        name,
        kind,
        tuple(_parse_value(element, v) for v in _split(allowed, ",")) if allowed else None,
        int(minimum) if minimum else None,
        None if default is None else _parse_default(kind, element, default.strip()),
        default is not None,
    )


def _parse_default(kind: str, element: str, text: str) -> Any:
    if kind != element:
        return [_parse_value(element, v) for v in _split(text.strip("[]"), ",")]
    return _parse_value(kind, text)


def _parse_value(kind: str, text: str) -> Any:
    if kind == "type":
        return dtypes.as_dtype(text)
    if kind == "bool":
        return text == "true"
    if kind == "shape":
        return TensorShape(None if text == "unknown" else ast.literal_eval(text))
    return ast.literal_eval(text)


def flatten_args(args: Sequence[Any]) -> list[Any]:
    """Inputs as an op's functions get them (lists for `N * T`) as one flat list."""
    flat: list[Any] = []
    for arg in args:
        flat.extend(arg) if isinstance(arg, (list, tuple)) else flat.append(arg)
    return flat


def group_inputs(op: Op, flat: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    """The flat inputs of a node, list arguments gathered into lists: what shape rules and kernels are called with."""
    if not op.has_list_inputs:
        return list(flat)
    following = iter(flat)
    return [list(itertools.islice(following, arg.count(attrs))) if arg.is_list else next(following) for arg in op.inputs]


def output_types(op: Op, attrs: dict[str, Any]) -> list[DType]:
    """The dtypes of a node's outputs, references included."""
    types: list[DType] = []
    for arg in op.outputs:
        if arg.type_list_attr:
            these = attrs[arg.type_list_attr]
        else:
            one = arg.dtype if arg.dtype is not None else attrs[arg.type_attr]  # type: ignore[index]
            these = [one] * arg.count(attrs)
        types += [t._as_ref for t in these] if arg.is_ref else these
    return types
