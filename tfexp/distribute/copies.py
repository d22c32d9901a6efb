"""Making distributed variables: the copies that a variable has on several devices, and one variable for all replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.distribute.variables import DistributedVariable, MirroredVariable, SyncOnReadVariable
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import collect, device, executing_eagerly, init_scope
from tfexp.ops.array_identity import identity
from tfexp.ops.variable_base import VariableAggregation, VariableSynchronization

Arguments = dict[str, Any]  # those of `tf.Variable`


def registered(kwargs: Arguments, make: Callable[[Arguments], Sequence[Any]], kind: Callable[..., Any]) -> Any:
    """The variable `kind(copies, aggregation)` of the copies that `make` makes: it is in collections in their place."""
    aggregation = kwargs.get("aggregation") or VariableAggregation.NONE
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {kwargs['name']}")
    trainable, keys = kwargs.get("trainable"), kwargs.get("collections")
    if trainable is None:
        trainable = kwargs.get("synchronization") is not VariableSynchronization.ON_READ
    keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    copies = make({**kwargs, "collections": [], "trainable": False})
    for copy in copies:
        copy._trainable = bool(trainable)
    variable = kind(copies, aggregation)
    for key in dict.fromkeys(keys):
        collect(key, variable)
    return variable


def mirrored(strategy: Any, devices: Sequence[str], next_creator: Callable[..., Any], kwargs: Arguments) -> Any:
    """A variable with a copy on each of the devices; all start as the first does.

    In eager execution, with one device, a variable of its own; RuntimeError with several. ValueError for one that is
    not to be synchronized.
    """
    if kwargs.get("synchronization") is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution strategy. Please change the "
            f"`synchronization` for variable: {kwargs['name']}"
        )
    if executing_eagerly():
        if len(devices) > 1:
            raise RuntimeError(
                f"In eager execution variables have no copies on several devices ({', '.join(devices)}): build a graph, or "
                "use one device."
            )
        return own(strategy, next_creator(**kwargs))

    def make(settings: Arguments) -> list[Any]:
        copies: list[Any] = []
        for number, where in enumerate(devices):
            with init_scope(), device(where):
                if number == 0:
                    copies.append(next_creator(**settings))
                    continue
                name = f"{copies[0].op.name}/replica_{number}/"
                copies.append(
                    next_creator(**{**settings, "name": name, "initial_value": _initial_value_of(copies[0], where)})
                )
        return copies

    on_read = kwargs.get("synchronization") is VariableSynchronization.ON_READ
    made: type[DistributedVariable] = SyncOnReadVariable if on_read else MirroredVariable
    return registered(kwargs, make, lambda copies, aggregation: made(strategy, copies, aggregation))


def _initial_value_of(first: Any, where: str) -> Callable[[], Any]:
    def initial_value() -> Any:
        with device(where):
            return identity(first.initial_value)

    return initial_value


def own(strategy: Any, variable: Any) -> Any:
    """A variable of its own that is the strategy's."""
    variable._strategy = strategy
    return variable


class SharedVariables:
    """The variables that the first replica makes are the other replicas' too: each gets them in the order it asks."""

    def __init__(self) -> None:
        self._made: dict[str, list[Any]] = {}

    def creator(self, replica: int) -> Callable[..., Any]:
        """The creator of a replica, for `tf.variable_creator_scope`."""
        taken: dict[str, int] = {}

        def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            # A name that is whole already has the replica's scope in it.
            name = (kwargs.get("name") or "Variable").replace(f"replica_{replica}/", "", 1)
            of_that_name = self._made.setdefault(name, [])
            if replica == 0:
                of_that_name.append(next_creator(**kwargs))
                return of_that_name[-1]
            number = taken.get(name, 0)
            if number >= len(of_that_name):
                raise RuntimeError(
                    f"Tried to create variable {name} in replica {replica}, which replica 0 did not make {number + 1} "
                    "times: every replica has to build the same program."
                )
            taken[name] = number + 1
            return of_that_name[number]

        return create
