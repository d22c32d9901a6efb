"""How a call of an op becomes a node: inputs are converted, type attributes inferred, everything checked.

This is the builder behind `core.op.Op.__call__`. Messages are those that people search the web for: TensorFlow's.
"""

from __future__ import annotations

import contextlib
import functools
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.nest import Composite
from tfexp.core.op import Arg, Attr, Op, set_builder
from tfexp.formats.tensor import to_array
from tfexp.graph import attrs as attr_codec
from tfexp.graph.convert import convert_n_to_tensor, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, graph_of
from tfexp.graph.tensor import Tensor


def apply_op(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None) -> Any:
    """Build a node of `op`; returns its output, outputs (a named tuple), or the Operation when it has none."""
    values = _bind_arguments(op, args, kwargs)
    for value in values.values():
        if isinstance(value, Composite) and (found := value.of_values(op.name, op, name)) is not NotImplemented:
            return found
    graph = graph_of(values.values())
    with graph.as_default(), graph.name_scope(name or op.name) as scope:
        call = _CallBuilder(op, kwargs)
        for arg in op.inputs:
            call.add_input(arg, values[arg.name])
        call.finish_attrs()
        if not call.ref_inputs:
            return results(graph.add_node(op.name, call.tensors, call.attrs, name=scope))
        with contextlib.ExitStack() as stack:
            for tensor in call.ref_inputs:
                stack.enter_context(graph.colocate_with(tensor.op))
            return results(graph.add_node(op.name, call.tensors, call.attrs, name=scope))


def parts_of_call(op: Op, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
    """The inputs and attributes of the node that a call with these inputs makes."""
    call = _CallBuilder(op, kwargs)
    for arg, value in zip(op.inputs, args, strict=True):
        call.add_input(arg, value)
    call.finish_attrs()
    return call.tensors, call.attrs


def results(node: Operation) -> Any:
    """What a call returns: the one output, the list of it, or a named tuple of the outputs.

    Of an op without outputs the Operation, and None where ops run at once.
    """
    op = node._op_def
    if not node.outputs:
        return None if node.graph.is_eager else node
    if op.has_single_output:
        return node.outputs[0]
    groups: list[Any] = []
    position = 0
    for arg in op.outputs:
        count = arg.count(node.attrs)
        groups.append(node.outputs[position : position + count] if arg.is_list else node.outputs[position])
        position += count
    return groups[0] if len(groups) == 1 else _result_type(op)(*groups)


@functools.cache
def _result_type(op: Op) -> Any:
    return namedtuple(op.name, [arg.name for arg in op.outputs])


def _bind_arguments(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = op.input_names
    if len(args) > len(names):
        raise TypeError(f"{op.name} takes {len(names)} inputs ({', '.join(names)}), got {len(args)}")
    values = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in names:
            if key in values:
                raise TypeError(f"{op.name} got multiple values for input {key!r}")
            values[key] = value
        elif key not in op.attrs:
            raise TypeError(f"{op.name} got unexpected keyword arguments: {key}; it has {', '.join([*names, *op.attrs])}")
    if len(values) < len(names):
        missing = [n for n in names if n not in values]
        raise TypeError(f"No argument for input {missing[0]}: {op.name} missing required inputs: {', '.join(missing)}")
    return values


class _CallBuilder:
    """Collects the tensors and attributes of one node."""

    def __init__(self, op: Op, given: dict[str, Any]):
        """TypeError or ValueError for attributes that cannot be: as in TensorFlow, before inputs are looked at."""
        self.op = op
        self.given = {
            name: self._normalized(op.attrs[name], value)
            for name, value in given.items()
            if value is not None and name in op.attrs
        }
        self.tensors: list[Tensor] = []
        self.ref_inputs: list[Tensor] = []
        self.attrs: dict[str, Any] = {}
        self._inferred_from: dict[str, str] = {}

    def add_input(self, arg: Arg, value: Any) -> None:
        if arg.type_list_attr is not None:
            self._add_type_list(arg, value)
        elif arg.number_attr is not None:
            self._add_numbered(arg, value)
        else:
            tensor = self._convert(arg, value)
            self._infer_type(arg, tensor.dtype.base_dtype)
            self._append(arg, [tensor])

    def _expected(self, arg: Arg) -> DType | None:
        if arg.dtype is not None:
            return arg.dtype
        return self.attrs.get(arg.type_attr)  # type: ignore[arg-type]

    def _default(self, arg: Arg) -> DType | None:
        attr = self.op.attrs.get(arg.type_attr or "")
        return attr.default if attr is not None and attr.has_default else None

    def _convert(self, arg: Arg, value: Any) -> Tensor:
        expected = self._expected(arg)
        attr = self.op.attrs.get(arg.type_attr or "")
        try:
            if expected is None and attr is not None and attr.has_default and attr.allowed is not None:
                # The value's own type comes before the attr's default, if it has one and the op takes it. (A list of
                # Dimensions has none: it becomes what is asked for.)
                with contextlib.suppress(TypeError, ValueError):
                    tensor = convert_to_tensor(value, name=arg.name, as_ref=arg.is_ref)
                    if tensor.dtype.base_dtype in attr.allowed:
                        return tensor
            return convert_to_tensor(
                value, name=arg.name, dtype=expected, preferred_dtype=self._default(arg), as_ref=arg.is_ref
            )
        except TypeError as error:
            if expected is None:
                raise
            raise TypeError(
                f"Expected {expected.name} passed to parameter {arg.name!r} of op {self.op.name!r}, got {value!r} of type "
                f"{type(value).__name__!r} instead. Error: {error}"
            ) from None
        except ValueError as error:
            observed = getattr(value, "dtype", None)
            if expected is None or observed is None:
                raise ValueError(f"Tried to convert {arg.name!r} to a tensor and failed. Error: {error}") from None
            raise self._mismatch(arg, dtypes.as_dtype(observed), expected) from None

    def _mismatch(self, arg: Arg, observed: DType, expected: DType) -> Exception:
        if get_default_graph().is_eager:
            return InvalidArgumentError(
                None,
                None,
                f"cannot compute {self.op.name} as input #{len(self.tensors)}(zero-based) was expected to be a "
                f"{dtypes.type_text(expected)} tensor but is a {dtypes.type_text(observed)} tensor [Op:{self.op.name}]",
            )
        prefix = f"Input {arg.name!r} of {self.op.name!r} Op has type {observed.name} that does not match"
        if arg.dtype is not None:
            return TypeError(f"{prefix} expected type of {expected.name}.")
        source = self._inferred_from.get(arg.type_attr or "", arg.type_attr)
        return TypeError(f"{prefix} type {expected.name} of argument {source!r}.")

    def _infer_type(self, arg: Arg, base: DType) -> None:
        if arg.dtype is not None:
            if base is not arg.dtype:
                raise self._mismatch(arg, base, arg.dtype)
            return
        key = arg.type_attr
        assert key is not None
        known = self.attrs.get(key)
        if known is None:
            attr_codec.check_allowed(self.op.attrs[key], base, self.op.name, arg.name)
            self.attrs[key] = base
            self._inferred_from[key] = arg.name
        elif known is not base:
            raise self._mismatch(arg, base, known)

    def _set_number(self, arg: Arg, count: int) -> None:
        key = arg.number_attr
        assert key is not None
        minimum = self.op.attrs[key].minimum
        if minimum is not None and count < minimum:
            raise ValueError(
                f"List argument {arg.name!r} to {self.op.name!r} Op with length {count} shorter than "
                f"minimum length {minimum}."
            )
        if self.attrs.setdefault(key, count) != count:
            raise ValueError(
                f"List argument {arg.name!r} to {self.op.name!r} Op with length {count} must match length "
                f"{self.attrs[key]} of argument {self._inferred_from.get(key, key)!r}."
            )
        self._inferred_from.setdefault(key, arg.name)

    def _add_numbered(self, arg: Arg, value: Any) -> None:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for {arg.name!r} argument to {self.op.name!r} Op, not {value}.")
        expected = self._expected(arg)
        if expected is None:
            # The first element that has a type of its own decides for the Python values among them.
            typed = (v.dtype for v in value if isinstance(v, Tensor) or hasattr(v, "_as_graph_element"))
            expected = next((dtypes.as_dtype(t).base_dtype for t in typed), None)
        try:
            if not arg.is_ref and expected is None and len(value) > 1:
                first = convert_to_tensor(value[0], name=f"{arg.name}_0", preferred_dtype=self._default(arg))
                rest = convert_n_to_tensor_from(value[1:], first.dtype.base_dtype, arg.name)
                tensors = [first, *rest]
            else:
                tensors = convert_n_to_tensor(value, dtype=expected, name=arg.name, as_ref=arg.is_ref)
        except (TypeError, ValueError) as error:
            self._refuse_mixed_tensors(arg, value)
            types = ", ".join(_own_type(v) for v in value)
            prefix = f"Tensors in list passed to {arg.name!r} of {self.op.name!r} Op have types [{types}] that"
            if arg.dtype is not None:
                raise TypeError(f"{prefix} do not match expected type {arg.dtype.name}. ({error})") from None
            if arg.type_attr in self.attrs:
                source = self._inferred_from.get(arg.type_attr or "", arg.type_attr)
                raise TypeError(
                    f"{prefix} do not match type {self.attrs[arg.type_attr].name} inferred from earlier arguments "
                    f"({source!r})."
                ) from None
            raise TypeError(f"{prefix} don't all match. ({error})") from None
        for tensor in tensors:
            self._infer_type(arg, tensor.dtype.base_dtype)
        self._set_number(arg, len(tensors))
        self._append(arg, tensors)

    def _refuse_mixed_tensors(self, arg: Arg, values: Sequence[Any]) -> None:
        """InvalidArgumentError for the first tensor of another dtype than those before, where ops run at once."""
        if not get_default_graph().is_eager:
            return
        expected = self._expected(arg)
        for i, value in enumerate(values):
            if isinstance(value, Tensor):
                expected = expected or value.dtype.base_dtype
                if value.dtype.base_dtype is not expected:
                    self.tensors.extend(values[:i])
                    raise self._mismatch(arg, value.dtype.base_dtype, expected) from None

    def _add_type_list(self, arg: Arg, value: Any) -> None:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for {arg.name!r} argument to {self.op.name!r} Op, not {value}.")
        key = arg.type_list_attr
        assert key is not None
        known = self.attrs.get(key)
        tensors = self._of_types(arg, value, known)
        found = [t.dtype.base_dtype for t in tensors]
        if known is not None and found != known:
            raise TypeError(
                f"Input {arg.name!r} of {self.op.name!r} Op has type list of {_listed(found)} that does not match type list "
                f"{_listed(known)} of argument {self._inferred_from[key]!r}."
            )
        for dtype in found:
            attr_codec.check_allowed(self.op.attrs[key], dtype, self.op.name, arg.name)
        self.attrs[key] = attr_codec.normalize(self.op.attrs[key], found, self.op.name)
        self._inferred_from.setdefault(key, arg.name)
        self._append(arg, tensors)

    def _of_types(self, arg: Arg, values: Any, wanted: Sequence[DType] | None) -> list[Tensor]:
        """The values as tensors, of the wanted types as far as they can be."""
        tensors = []
        for i, value in enumerate(values):
            dtype = wanted[i] if wanted and i < len(wanted) else None
            try:
                tensor = convert_to_tensor(value, name=f"{arg.name}_{i}", preferred_dtype=dtype, as_ref=arg.is_ref)
            except (TypeError, ValueError) as error:
                types = ", ".join(_own_type(v) for v in values)
                raise TypeError(
                    f"Tensors in list passed to {arg.name!r} of {self.op.name!r} Op have types [{types}] that are invalid. "
                    f"({error})"
                ) from None
            tensors.append(tensor)
        return tensors

    def _append(self, arg: Arg, tensors: list[Tensor]) -> None:
        if arg.is_ref:
            for tensor in tensors:
                if not tensor.dtype._is_ref_dtype:
                    raise TypeError(
                        f"{self.op.name!r} Op requires that input {arg.name!r} be a mutable tensor (e.g.: a tf.Variable)"
                    )
            self.ref_inputs.extend(tensors)
        self.tensors.extend(tensors)

    def _normalized(self, attr: Attr, value: Any) -> Any:
        if attr.kind == "func":
            value = _in_library(value, attr.name)
        elif attr.kind == "list(func)":
            value = [_in_library(one, attr.name) for one in value]
        try:
            return attr_codec.normalize(attr, value, self.op.name)
        except ValueError as error:
            if get_default_graph().is_eager:
                raise InvalidArgumentError(None, None, str(error)) from None
            raise

    def finish_attrs(self) -> None:
        """Attributes that were given, then defaults; what inputs decided must not be contradicted."""
        for attr in self.op.attrs.values():
            value = self.given.get(attr.name)
            if attr.name in self.attrs:
                if value is not None and value != self.attrs[attr.name]:
                    raise TypeError(
                        f"{self.op.name}: attr {attr.name!r} is {self.attrs[attr.name]} by its inputs, not {value!r}"
                    )
                continue
            if value is None:
                if not attr.has_default:
                    raise TypeError(f"No argument for attr {attr.name} of {self.op.name!r} Op")
                self.attrs[attr.name] = list(attr.default) if isinstance(attr.default, list) else attr.default
            else:
                self.attrs[attr.name] = value


def _in_library(function: Any, name: str) -> NameAttrList:
    """How an attribute names a function; one that is no name yet goes into the default graph's library. TypeError."""
    if isinstance(function, NameAttrList):
        return function
    if isinstance(function, str):
        return NameAttrList(name=function)
    if hasattr(function, "add_to_graph"):
        function.add_to_graph(get_default_graph())
        return NameAttrList(name=function.name)
    raise TypeError(f"Don't know how to convert {function!r} to a func for argument {name}: give a Defun or a name")


def _own_type(value: Any) -> str:
    """What a value is by itself."""
    if hasattr(value, "dtype"):
        return str(dtypes.as_dtype(value.dtype).base_dtype.name)
    try:
        return to_array(value)[1].name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"


def _listed(types: Sequence[DType]) -> str:
    return ", ".join(dtype.name for dtype in types)


def convert_n_to_tensor_from(values: Any, dtype: DType, name: str) -> list[Tensor]:
    """The second and later elements of a list input whose first element decided the dtype."""
    return [convert_to_tensor(v, dtype=dtype, name=f"{name}_{i}") for i, v in enumerate(values, 1)]


set_builder(apply_op)
