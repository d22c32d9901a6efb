"""The arguments of a traced function: how a call is matched with its parameters, and which calls share a trace."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.shallow_nest import flatten_up_to
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec, TypeSpec
from tfexp.ops.variable_base import Variable

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Bound:
    """A call's arguments by the names of parameters, arrays made tensors: a structure, its leaves, and what it is called by.

    `structure` is (positional arguments, keyword arguments), `names` has a name for each leaf.
    """

    structure: Any
    leaves: list[Any]
    names: list[str]
    key: Hashable

    @property
    def key_of_ranks(self) -> Hashable:
        """The key, with ranks in place of shapes."""
        key: Any = self.key
        structure, kinds = key  # with an input signature nobody asks
        return structure, tuple([(*k[:2], len(k[2])) if k[0] is Tensor and k[2] is not None else k for k in kinds])

    @property
    def tensors(self) -> list[Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]


def is_tensor(leaf: Any) -> bool:
    """Whether a trace has an argument for it."""
    return isinstance(leaf, (Tensor, TensorSpec))


class Parameters:
    """The parameters of a Python function, and the `input_signature` that their values have to fit, if there is one."""

    def __init__(self, function: Callable[..., Any], input_signature: Any = None):
        self.name = getattr(function, "__name__", type(function).__name__)
        self.signature = inspect.signature(function)
        self._positional = [p.name for p in self.signature.parameters.values() if p.kind in _POSITIONAL]
        self.input_signature = None if input_signature is None else _checked_signature(input_signature)
        if self.input_signature is not None:
            self._check_count()
        # So many tensors alone are the simple case.
        simple = input_signature is None and len(self._positional) == len(self.signature.parameters)
        self._count_of_tensors = len(self._positional) if simple else -1

    def _check_count(self) -> None:
        assert self.input_signature is not None
        parameters = self.signature.parameters.values()
        if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
            raise ValueError(
                f"Cannot define a TensorFlow function of {self.name}: input_signature has no keyword-only arguments."
            )
        try:
            self.signature.bind_partial(*self.input_signature)  # a method's `self` is bound later
        except TypeError as error:
            raise TypeError(
                f"The input_signature of {self.name}{self.signature} has {len(self.input_signature)} elements: {error}"
            ) from None

    @property
    def traced(self) -> inspect.Signature:
        """Those that traces have arguments for: with an input signature, so many of the first."""
        if self.input_signature is None:
            return self.signature
        return self.signature.replace(parameters=list(self.signature.parameters.values())[: len(self.input_signature)])

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """A call's arguments; TypeError where they do not fit the parameters, ValueError where not the input signature."""
        if not kwargs and len(args) == self._count_of_tensors and all(isinstance(arg, Tensor) for arg in args):
            return self._of_tensors(args)
        try:
            given = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None
        if self.input_signature is not None:
            return self._bind_to_signature(given)
        given.apply_defaults()
        structure = nest.map_structure(_as_argument, (tuple(given.args), dict(given.kwargs)))
        leaves = nest.flatten(structure, expand_composites=True)
        return Bound(structure, leaves, self._names(structure), self._key(structure, leaves))

    def _of_tensors(self, args: Sequence[Tensor]) -> Bound:
        """The short way for a tensor for each parameter."""
        structure: Any = (tuple(args), {})
        return Bound(structure, list(args), self._positional, (_of_tensors(len(args)), tuple(map(_kind, args))))

    def _bind_to_signature(self, given: inspect.BoundArguments) -> Bound:
        assert self.input_signature is not None
        specs = self.input_signature
        beyond = [name for name in given.kwargs if name not in self.traced.parameters]
        if beyond or len(given.args) > len(specs):
            raise TypeError(
                f"{self.name}: When input_signature is provided, only pass arguments covered by it. Received "
                + (f"argument {beyond[0]}." if beyond else f"{len(given.args)} argument(s).")
            )
        given.apply_defaults()
        args = given.args[: len(specs)]
        try:
            given_leaves = flatten_up_to(specs, args)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{self.name}: Structure of Python function inputs does not match input_signature:\n"
                f"{_compared(args, specs)}\n({error})"
            ) from None
        leaves = []
        for leaf, spec in zip(given_leaves, nest.flatten(specs), strict=True):
            if isinstance(leaf, TensorSpec) or not isinstance(spec, TensorSpec):
                tensor: Any = leaf
            else:
                try:
                    tensor = leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf, dtype=spec.dtype)
                except (TypeError, ValueError) as error:
                    raise ValueError(
                        f"{self.name}: When input_signature is provided, all inputs to the Python function must be "
                        f"convertible to tensors:\n{_compared(args, specs)}\n({error})"
                    ) from None
            if not _fits(tensor, spec):
                raise ValueError(f"{self.name}: Python inputs incompatible with input_signature:\n{_compared(args, specs)}")
            leaves.append(tensor)
        return self._of_signature(nest.pack_sequence_as(specs, leaves))

    def signature_as_arguments(self) -> Bound:
        """What a trace for the input signature gets; TypeError where that leaves parameters without a value."""
        return self.as_arguments(self.input_signature or ())

    def as_arguments(self, signature: Sequence[Any]) -> Bound:
        """The same for any signature: specs stand for tensors, all else for itself."""
        try:
            self.signature.bind(*signature)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error} (in its input_signature)") from None
        return self._of_signature(nest.map_structure(_stand_in, signature))

    def _of_signature(self, args: Any) -> Bound:
        structure: Any = (args, {})
        leaves = nest.flatten(structure, expand_composites=True)
        return Bound(structure, leaves, self._names(structure), "input_signature")

    @property
    def specs_of_tensors(self) -> list[TensorSpec]:
        """Those of the input signature, of values of several tensors one for each."""
        return [part for spec in nest.flatten(self.input_signature) for part in _parts(spec)]

    def _names(self, structure: Any) -> list[str]:
        """For each leaf, the parameter that it belongs to."""
        args, kwargs = structure
        names: list[str] = []
        own = self._positional
        for position, value in enumerate(args):
            name = own[position] if position < len(own) else f"args_{position}"
            names += [name] * len(nest.flatten(value, expand_composites=True))
        for name in nest.keys_in_order(kwargs):
            names += [name] * len(nest.flatten(kwargs[name], expand_composites=True))
        return names

    def _key(self, structure: Any, leaves: Sequence[Any]) -> Hashable:
        key = (_shape_of(structure), tuple([_kind(leaf) for leaf in leaves]))
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                f"{self.name}: Arguments supplied to `tf.function`-generated functions must be hashable, tensors, arrays, "
                f"or lists, tuples and dicts of these: {error}"
            ) from None
        return key


class _StandIn(nest.Composite):
    """In place of a value of several tensors, what is known of them."""

    def __init__(self, spec: TypeSpec):
        self._type_spec = spec

    @property
    def nested_parts(self) -> tuple[Any, ...]:
        return tuple(_parts(self._type_spec))

    def with_nested_parts(self, components: Sequence[Any]) -> Any:
        return _packed(self._type_spec, iter(components))


def _stand_in(given: Any) -> Any:
    return _StandIn(given) if isinstance(given, TypeSpec) and not isinstance(given, TensorSpec) else given


def _parts(spec: TypeSpec) -> list[TensorSpec]:
    """The specs of the tensors that a value is made of, down to the last."""
    if isinstance(spec, TensorSpec):
        return [spec]
    return [part for component in nest.flatten(spec._component_specs) for part in _parts(component)]


def _packed(spec: TypeSpec, parts: Iterator[Any]) -> Any:
    """The value that the next of these tensors are the parts of."""
    if isinstance(spec, TensorSpec):
        return next(parts)
    components = spec._component_specs
    made = [_packed(component, parts) for component in nest.flatten(components)]
    return spec._from_components(nest.pack_sequence_as(components, made))


def _fits(value: Any, spec: TypeSpec) -> bool:
    """Whether a value's tensors may be those of a value of the spec."""
    if isinstance(spec, TensorSpec):
        return spec.is_compatible_with(value)
    if not isinstance(value, spec.value_type):
        return False
    tensors, specs = nest.flatten(value, expand_composites=True), _parts(spec)
    return len(tensors) == len(specs) and all(map(_fits, tensors, specs))


def _checked_signature(input_signature: Any) -> tuple[Any, ...]:
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")
    leaves = nest.flatten(input_signature)
    wrong = [leaf for leaf in leaves if not isinstance(leaf, TypeSpec)]
    if wrong:
        raise TypeError(f"input_signature must be a possibly nested sequence of TensorSpec objects, got {wrong}")
    return tuple(input_signature)


def _compared(inputs: Any, specs: Any) -> str:
    def listed(values: Any) -> str:
        return ",\n    ".join(map(str, values))

    return f"  inputs: (\n    {listed(inputs)})\n  input_signature: (\n    {listed(specs)})"


def _as_argument(value: Any) -> Any:
    """Arrays are tensors; numbers (NumPy's, too) and all other things stay what they are."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def _kind(leaf: Any) -> Hashable:
    """What two leaves have in common for which one trace will do."""
    if isinstance(leaf, (Tensor, TensorSpec)):
        return Tensor, leaf.dtype, leaf.shape.rank if leaf.shape.rank is None else tuple(leaf.shape.as_list())
    if isinstance(leaf, Variable):
        return Variable, id(leaf), weakref.ref(leaf)
    if leaf is None or isinstance(leaf, (bool, int, float, complex, str, bytes)):
        return type(leaf), leaf
    try:
        hash(leaf)
        return type(leaf), weakref.ref(leaf)  # it need not live on for having been an argument
    except TypeError:
        return type(leaf), leaf


@functools.cache
def _of_tensors(count: int) -> Hashable:
    """`_shape_of` the arguments of a call with so many tensors."""
    return _shape_of(((None,) * count, {}))


def _shape_of(structure: Any) -> Hashable:
    """The structure alone, hashable."""
    if not nest.is_nested(structure, expand_composites=True):
        return None
    parts = nest.children(structure)
    return type(structure), tuple([(key, _shape_of(child)) for key, child in parts])
