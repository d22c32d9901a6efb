"""Wires laid anew: consumers moved from one tensor to another, parts of graphs cut out and connected.

Graphs change in place. What was run in a session before a change is made anew by it; names stay as they were.
Source: `tf.contrib.graph_editor`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.graph_editor import select
from tfexp.contributed.graph_editor.view import SubGraphView, make_view
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.scopes import device as device_
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder

_PREFIX = "geph"


def ph(dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX) -> Tensor:
    """A placeholder by the editor's kind of name, `prefix`, below `scope`."""
    return placeholder(dtype, shape, name=_scoped(prefix, scope))


def placeholder_name(t: Tensor | None = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """The name of the placeholder that stands for a tensor: `<prefix>__<its op's last name>_<its index>`."""
    if t is None:
        return _scoped(prefix, scope)
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t).__name__}")
    path, _, last = t.op.name.rpartition("/")
    return _scoped(f"{prefix}__{last}_{t.value_index}", path if scope is None else scope)


def _scoped(name: str, scope: str | None) -> str:
    return f"{scope.rstrip('/')}/{name}" if scope else name


def make_placeholder_from_tensor(t: Tensor, scope: str | None = None, prefix: str = _PREFIX) -> Tensor:
    """A placeholder of a tensor's type, shape and device, in the current default graph."""
    with control_dependencies(None), device_(t.device or None):
        return placeholder(t.dtype.base_dtype, t.get_shape(), name=placeholder_name(t, scope, prefix))


make_placeholder_from_dtype_and_shape = ph


# --- tensors for tensors ------------------------------------------------------------------------------------------------


def _changeable(can_modify: Any, cannot_modify: Any) -> Any:
    allowed = None if can_modify is None else set(select.make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(select.make_list_of_op(cannot_modify))
    return lambda op: (allowed is None or op in allowed) and op not in refused


def _check_types(t0: Tensor, t1: Tensor) -> None:
    if t0.dtype.base_dtype is not t1.dtype.base_dtype:
        raise TypeError(f"{t0.name} ({t0.dtype.name}) and {t1.name} ({t1.dtype.name}) must have one type to change places")
    if not t0.get_shape().is_compatible_with(t1.get_shape()):
        raise ValueError(f"{t0.name} {t0.get_shape()} and {t1.name} {t1.get_shape()} must have shapes that fit")


def _places(t: Tensor, may_change: Any) -> list[tuple[Operation, int]]:
    """(operation, number of its input) wherever a tensor is taken in."""
    return [(op, i) for op in dict.fromkeys(t.consumers()) if may_change(op) for i, one in enumerate(op.inputs) if one is t]


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """What took tensors of `ts1` in takes those of `ts0` in instead; the number of inputs that changed.

    can_modify, cannot_modify: only these operations change, these do not. TypeError and ValueError where a pair's types or
    shapes do not fit; ValueError for lists of different lengths.
    """
    return _moved(ts0, ts1, can_modify, cannot_modify, swap=False)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """What took a tensor of `ts0` in takes that of `ts1` in, and the other way round. See `reroute_ts`."""
    return _moved(ts0, ts1, can_modify, cannot_modify, swap=True)


def _moved(ts0: Any, ts1: Any, can_modify: Any, cannot_modify: Any, swap: bool) -> int:
    first, second = select.make_list_of_t(ts0, allow_graph=False), select.make_list_of_t(ts1, allow_graph=False)
    if len(first) != len(second):
        raise ValueError(f"there have to be as many tensors on both sides, but there are {len(first)} and {len(second)}")
    select.get_unique_graph([*first, *second])
    may_change = _changeable(can_modify, cannot_modify)
    for t0, t1 in zip(first, second, strict=True):
        _check_types(t0, t1)
    # All places first: a tensor may come in several pairs.
    moves = [(place, t0) for t0, t1 in zip(first, second, strict=True) for place in _places(t1, may_change) if t0 is not t1]
    if swap:
        moves += [
            (place, t1) for t0, t1 in zip(first, second, strict=True) for place in _places(t0, may_change) if t0 is not t1
        ]
    for (op, index), tensor in moves:
        op._update_input(index, tensor)
    return len(moves)


def add_control_inputs(op: Operation, cops: Any) -> None:
    """Make `op` wait for these operations. ValueError where it does already."""
    for cop in select.make_list_of_op(cops, allow_graph=False):
        if cop in op.control_inputs:
            raise ValueError(f"{cop.name} is already a control_input of {op.name}")
        op._add_control_inputs([cop])


def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Let `op` no longer wait for these operations. ValueError where it does not."""
    for cop in select.make_list_of_op(cops, allow_graph=False):
        if cop not in op.control_inputs:
            raise ValueError(f"{op.name} is not waiting for {cop.name}: it is no control_input")
        op._remove_control_inputs([cop])


# --- views for views ----------------------------------------------------------------------------------------------------

Views = tuple[SubGraphView, SubGraphView]


def _pair(sgv0: Any, sgv1: Any) -> Views:
    first, second = make_view(sgv0), make_view(sgv1)
    select.get_unique_graph([*first.ops, *second.ops])
    return first, second


def _rewire_inputs(sgv0: Any, sgv1: Any, swap: bool) -> Views:
    first, second = _pair(sgv0, sgv1)
    inputs = first.inputs, second.inputs
    if len(inputs[0]) != len(inputs[1]):
        raise ValueError(f"the views have to have as many inputs, but have {len(inputs[0])} and {len(inputs[1])}")
    moves = [(place, t0) for t0, t1 in zip(*inputs, strict=True) for place in _places(t1, set(second.ops).__contains__)]
    if swap:
        moves += [(place, t1) for t0, t1 in zip(*inputs, strict=True) for place in _places(t0, set(first.ops).__contains__)]
    for t0, t1 in zip(*inputs, strict=True):
        _check_types(t0, t1)
    for (op, index), tensor in moves:
        op._update_input(index, tensor)
    first._input_ts, second._input_ts = (inputs[1] if swap else inputs[0]), inputs[0]
    return first, second


def _rewire_outputs(sgv0: Any, sgv1: Any, swap: bool) -> Views:
    first, second = _pair(sgv0, sgv1)
    _moved(first.outputs, second.outputs, None, [*first.ops, *second.ops], swap)
    return first, second


def reroute_inputs(sgv0: Any, sgv1: Any) -> Views:
    """The operations of `sgv1` take in what those of `sgv0` do; the views as they are then."""
    return _rewire_inputs(sgv0, sgv1, swap=False)


def swap_inputs(sgv0: Any, sgv1: Any) -> Views:
    """Each view takes in what the other did."""
    return _rewire_inputs(sgv0, sgv1, swap=True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> Views:
    """What took outputs of `sgv1` in takes those of `sgv0` in; within both, nothing changes."""
    return _rewire_outputs(sgv0, sgv1, swap=False)


def swap_outputs(sgv0: Any, sgv1: Any) -> Views:
    """What took one view's outputs in takes the other's in."""
    return _rewire_outputs(sgv0, sgv1, swap=True)


def reroute_ios(sgv0: Any, sgv1: Any) -> Views:
    """`reroute_inputs` and `reroute_outputs`."""
    return reroute_outputs(*reroute_inputs(sgv0, sgv1))


def swap_ios(sgv0: Any, sgv1: Any) -> Views:
    """`swap_inputs` and `swap_outputs`."""
    return swap_outputs(*swap_inputs(sgv0, sgv1))


# --- cut out and connected ----------------------------------------------------------------------------------------------


def detach_control_inputs(sgv: Any) -> None:
    """Operations of the view no longer wait for others outside of it."""
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        remove_control_inputs(op, [c for c in op.control_inputs if c not in inside])


def detach_control_outputs(sgv: Any, control_outputs: Any = None) -> None:
    """Operations outside of the view no longer wait for those in it."""
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        for waiting in [o for o in op._control_outputs if o not in inside]:
            remove_control_inputs(waiting, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """(the view, the placeholders that it takes in now). control_inputs: it waits for nothing outside, either."""
    view = make_view(sgv)
    inside = set(view.ops).__contains__
    placed = []
    for t in view.inputs:
        with t.graph.as_default():
            stand_in = make_placeholder_from_tensor(t)
        for op, index in _places(t, inside):
            op._update_input(index, stand_in)
        placed.append(stand_in)
    if control_inputs:
        detach_control_inputs(view)
    view._input_ts = list(placed)
    return view, placed


def detach_outputs(sgv: Any, control_outputs: Any = None) -> tuple[SubGraphView, list[Tensor]]:
    """(the view, the placeholders that what took its outputs in takes in now). control_outputs: nothing waits for it."""
    view = make_view(sgv)
    placed = _cut_off(view, view.ops)
    if control_outputs:
        detach_control_outputs(view)
    return view, placed


def _cut_off(view: SubGraphView, kept: Iterable[Operation]) -> list[Tensor]:
    """Placeholders in place of the view's outputs, for all operations but those that are kept."""
    inside, placed = set(kept), []
    for t in view.outputs:
        with t.graph.as_default():
            stand_in = make_placeholder_from_tensor(t)
        for op, index in _places(t, lambda op: op not in inside):
            op._update_input(index, stand_in)
        placed.append(stand_in)
    return placed


def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """(the view, placeholders for its inputs, placeholders in place of its outputs): it is cut out on both sides."""
    view, inputs = detach_inputs(sgv, control_inputs=bool(control_inputs or control_ios))
    view, outputs = detach_outputs(view, control_outputs=control_outputs or control_ios)
    return view, inputs, outputs


def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> Views:
    """`sgv1` takes in the outputs of `sgv0`, which are as many. disconnect_first: `sgv0`'s outputs go nowhere else."""
    first, second = _pair(sgv0, sgv1)
    outputs, inputs = first.outputs, second.inputs
    if len(outputs) != len(inputs):
        raise ValueError(f"{len(outputs)} outputs cannot be connected with {len(inputs)} inputs")
    inside = set(second.ops).__contains__
    for t0, t1 in zip(outputs, inputs, strict=True):
        _check_types(t0, t1)
        for op, index in _places(t1, inside):
            op._update_input(index, t0)
    if disconnect_first:
        _cut_off(first, [*first.ops, *second.ops])
    second._input_ts = outputs
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """(the view, placeholders for its inputs): what took its outputs in takes its inputs in, of which there are as many."""
    view = make_view(sgv)
    inputs = view.inputs
    if len(inputs) != len(view.outputs):
        raise ValueError(f"only as many inputs as outputs can be put past it: {len(inputs)} and {len(view.outputs)}")
    _moved(inputs, view.outputs, None, view.ops, swap=False)
    return detach_inputs(view)
