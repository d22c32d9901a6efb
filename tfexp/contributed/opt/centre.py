"""Variables of which each worker has its own, and all together a centre."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import add_to_collection, control_dependencies, get_collection_ref
from tfexp.graph.scopes import device as device_
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.state import assign_add
from tfexp.ops.variable_lists import global_variables, local_variables_initializer
from tfexp.train.optimizer import Optimizer
from tfexp.train.session_hooks import SessionRunHook

CENTRE = "global_center_variable"


class CentredGetter:
    """A `custom_getter` that makes each trainable variable twice: the worker's own, and the centre's.

    The worker's is local to it, on `worker_device`; `global_center_variable/<name>` is global, where the surrounding device
    function puts variables.
    """

    _beside = ""
    """The prefix of what else the worker has beside each variable, nothing if empty."""

    def __init__(self, worker_device: Any):
        self._worker_device = worker_device
        self._centres: dict[str, Any] = {}
        self._besides: dict[str, Any] = {}

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: Any = None,
        collections: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if not trainable:
            local = GraphKeys.LOCAL_VARIABLES in (collections or ())
            with device_(self._worker_device if local else None):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)

        def mine(prefix: str, trainable: bool = False) -> Any:
            where = [GraphKeys.LOCAL_VARIABLES]
            with device_(self._worker_device):
                return getter(f"{prefix}{name}", *args, trainable=trainable, collections=where, **kwargs)

        own = mine("", trainable=True)
        if own.name not in self._centres:
            everyones = [GraphKeys.GLOBAL_VARIABLES]
            self._centres[own.name] = getter(f"{CENTRE}/{name}", *args, trainable=False, collections=everyones, **kwargs)
            if self._beside:
                self._besides[own.name] = mine(f"{self._beside}/")
        return own

    def centre(self, variable: Any) -> Any:
        """The centre's variable of a worker's. KeyError, naming it, for one that was not made with this getter."""
        return self._of(self._centres, variable)

    def _of(self, found: Mapping[str, Any], variable: Any) -> Any:
        if variable.name not in found:
            raise KeyError(
                f"{variable.name} was not made with the {type(self).__name__}, but trainable variables have to be"
            )
        return found[variable.name]


def step_and_meet(
    optimizer: Optimizer,
    pairs: Sequence[Any],
    local_step: Any,
    period: Any,
    meet: Callable[[], Any],
    name: str | None,
    beside: Callable[[], Sequence[Any]] = tuple,
) -> Operation:
    """The op that takes a step of the worker's, which `local_step` counts, and each `period` of them does what `meet` makes.

    pairs: (gradient, variable). The optimizer's slots become the worker's own. beside: makes ops that every step does, too.
    """
    before = {v.name for v in global_variables()}
    step = optimizer.apply_gradients(pairs)
    _make_slots_local(before)
    with control_dependencies([step, *beside()]):
        counted = assign_add(local_step, 1, name="local_step_update")
    with control_dependencies([counted]):
        is_over = equal(floormod(local_step.read_value(), period), 0)
        return cond(is_over, meet, no_op, name=name).op  # type: ignore[no-any-return]


def _make_slots_local(before: set[str]) -> None:
    """Global variables that are not among these names, an optimizer's slots, become the worker's."""
    everyones = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    for slot in [v for v in everyones if v.name not in before]:
        everyones.remove(slot)
        add_to_collection(GraphKeys.LOCAL_VARIABLES, slot)


class StartHook(SessionRunHook):
    """Starts a worker: its local variables, then what the op of `make_values` gives."""

    def __init__(self, make_values: Callable[[], Any]):
        self._make_values = make_values

    def begin(self) -> None:
        self._local = local_variables_initializer()
        self._values = self._make_values()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._local)
        session.run(self._values)
