"""Values that each replica has one of, and how structures of them are put together and taken apart. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfexp.graph.dependencies import group
from tfexp.graph.replica_modes import current_mode
from tfexp.graph.scopes import control_dependencies, device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.variable_base import Variable


def here() -> int | None:
    """The number of the replica or copy that is being built for; None across replicas and outside of strategies."""
    mode = current_mode()
    if mode is None:
        return None
    return mode.updating if mode.replica is None else mode.replica._replica_id


class DistributedValues:
    """One value for each replica, in the order of their numbers."""

    def __init__(self, values: Sequence[Any]):
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        return self._values

    def _get(self) -> Any:
        """The value of the replica that is being built. ValueError where none is."""
        number = here()
        if number is None:
            raise ValueError(
                f"{type(self).__name__} has a value for each replica, and there is no replica here: take them apart by "
                f"`strategy.experimental_local_results`, or make one by `strategy.reduce`. Given: {self!r}"
            )
        return self._values[number]

    def __repr__(self) -> str:
        return f"{type(self).__name__}:{described(map(repr, self._values))}"

    def __str__(self) -> str:
        return f"{type(self).__name__}:{described(map(str, self._values))}"


def described(values: Iterable[str]) -> str:
    """The values by their numbers, a line each."""
    lines = ",\n".join(f"  {number}: {value}" for number, value in enumerate(values))
    return f"{{\n{lines}\n}}"


class PerReplica(DistributedValues):
    """Values that differ."""


class Mirrored(DistributedValues):
    """The same value on every device. Fetching it fetches the first."""

    def _get(self) -> Any:
        return self._values[here() or 0]

    def _as_graph_element(self) -> Any:
        value = self._get()
        return value._as_graph_element() if hasattr(value, "_as_graph_element") else value


def _to_tensor(value: DistributedValues, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return convert_to_tensor(value._get(), dtype=dtype, name=name)


register_tensor_conversion_function(DistributedValues, _to_tensor)


# --- structures ----------------------------------------------------------------------------------------------------------


def select(number: int, structure: Any) -> Any:
    """`structure` as replica `number` sees it."""

    def own(value: Any) -> Any:
        copies = copies_of(value)
        return value if copies is None else copies[number]

    return nest.map_structure(own, structure)


def copies_of(value: Any) -> tuple[Any, ...] | None:
    """What a value is made of that has a part for each replica; None for any other."""
    if isinstance(value, DistributedValues):
        return value.values
    return getattr(value, "_copies", None) if isinstance(value, Variable) else None


def regroup(structures: Sequence[Any], kind: type[DistributedValues] = PerReplica) -> Any:
    """The replicas' results as one structure: what is the same object in all stays, else there is a `kind` of the parts.

    ValueError where the replicas' structures differ.
    """
    first = structures[0]
    if isinstance(first, (list, tuple)):
        _check_alike(structures, all(isinstance(s, type(first)) and len(s) == len(first) for s in structures))
        parts = [regroup([s[i] for s in structures], kind) for i in range(len(first))]
        if hasattr(first, "_fields"):
            return type(first)(*parts)
        return type(first)(parts)
    if isinstance(first, Mapping):
        _check_alike(structures, all(isinstance(s, Mapping) and list(s) == list(first) for s in structures))
        return type(first)({key: regroup([s[key] for s in structures], kind) for key in first})  # type: ignore[call-arg]
    if all(value is first for value in structures):
        return first
    container = getattr(first, "_distributed_container", None)
    if container is not None and all(getattr(v, "_distributed_container", None) is container for v in structures):
        return container
    return kind(structures)


def _check_alike(structures: Sequence[Any], alike: bool) -> None:
    if not alike:
        raise ValueError(f"The replicas must give structures of one form. Given: {list(structures)}")


def after_all(values: Sequence[Any], grouped: bool, name: str | None = None) -> Any:
    """What an update of every copy gives: its parts, or (`grouped`) what has run only when all have.

    Of tensors that is a `Mirrored` of them; of operations, one operation.
    """
    if not grouped:
        return nest.map_structure(local_results, regroup(values, Mirrored))
    if len(values) == 1:
        return values[0]
    done = group(*values, name=name)
    if not all(isinstance(value, (Tensor, Variable)) for value in values):
        return done
    made = []
    for value in values:
        with device(value.device), control_dependencies([done]):
            made.append(identity(value))
    return Mirrored(made)


def local_results(value: Any) -> tuple[Any, ...]:
    """The parts of a value; of any other, itself."""
    copies = copies_of(value)
    return (value,) if copies is None else copies
