"""`SubGraphView`: some operations of a graph, and which of their tensors count as inputs and outputs.

Source: `tf.contrib.graph_editor`, TF 1.15.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from tfexp.contributed.graph_editor import select
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


class SubGraphView:
    """The operations `inside_ops`, with what comes into them as inputs and what leaves them as outputs.

    passthrough_ts: tensors that are inputs and outputs both, beside those. Inputs and outputs may be put in another order,
    or some of them chosen, by `remap`, which gives another view. What wires a view anew leaves it with its new inputs.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        self._ops = select.make_list_of_op(inside_ops)
        passing = select.make_list_of_t(passthrough_ts)
        self._graph = select.get_unique_graph([*self._ops, *passing])
        coming, leaving, _ = select.compute_boundary_ts(self._ops)
        self._passthrough_ts = [t for t in passing if t not in coming and t not in leaving]
        self._input_ts = [*coming, *self._passthrough_ts]
        self._output_ts = [*leaving, *self._passthrough_ts]

    @property
    def graph(self) -> Graph | None:
        """Of the operations; None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        return list(self._input_ts)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self._output_ts)

    @property
    def passthroughs(self) -> list[Tensor]:
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that operations of the view take in."""
        return [t for t in self._input_ts if not self.is_passthrough(t)]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that operations of the view make."""
        return [t for t in self._output_ts if not self.is_passthrough(t)]

    def is_passthrough(self, t: Tensor) -> bool:
        return t in self._passthrough_ts

    def op(self, op_id: int) -> Operation:
        """The operation at a position."""
        return self._ops[op_id]

    def find_op_by_name(self, op_name: str) -> Operation:
        """AttributeError, as TensorFlow has it, where there is none of that name."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AttributeError(f"{op_name} not found in {self}")

    def input_index(self, t: Tensor) -> int:
        """The position among the inputs. ValueError for what is none."""
        return _position(self._input_ts, t, "inputs")

    def output_index(self, t: Tensor) -> int:
        """The position among the outputs. ValueError for what is none."""
        return _position(self._output_ts, t, "outputs")

    def consumers(self) -> list[Operation]:
        """The operations outside that take outputs in, each once."""
        inside = set(self._ops)
        return list(dict.fromkeys(op for t in self._output_ts for op in t.consumers() if op not in inside))

    def copy(self) -> SubGraphView:
        """Another view of the same operations."""
        made = copy.copy(self)
        for name in ("_ops", "_input_ts", "_output_ts", "_passthrough_ts"):
            setattr(made, name, list(getattr(self, name)))
        return made

    def _with(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> SubGraphView:
        made = self.copy()
        made._input_ts, made._output_ts = list(inputs), list(outputs)
        return made

    def remap_inputs(self, new_input_indices: Sequence[Any]) -> SubGraphView:
        """A view with these inputs alone: positions of inputs, or inputs, without repetition."""
        chosen = [t if isinstance(t, Tensor) else self._input_ts[t] for t in new_input_indices]
        if len(set(chosen)) != len(chosen):
            raise ValueError(f"an input may come once only: {[t.name for t in chosen]}")
        for t in chosen:
            self.input_index(t)
        return self._with(chosen, self._output_ts)

    def remap_outputs(self, new_output_indices: Sequence[Any]) -> SubGraphView:
        """A view with these outputs: positions of outputs, or tensors that the operations make; some may come twice."""
        chosen = [t if isinstance(t, Tensor) else self._output_ts[t] for t in new_output_indices]
        made = {t for op in self._ops for t in op.outputs}
        for t in chosen:
            if t not in made and not self.is_passthrough(t):
                raise ValueError(f"{t.name} is not an output: the operations of {self} do not make it")
        return self._with(self._input_ts, chosen)

    def remap(self, new_input_indices: Sequence[Any] | None = None, new_output_indices: Sequence[Any] | None = None) -> Any:
        """Both; None leaves the inputs or the outputs as they are."""
        made = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made if new_output_indices is None else made.remap_outputs(new_output_indices)

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view without repeated outputs."""
        return self._with(self._input_ts, list(dict.fromkeys(self._output_ts)))

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output as often as it is taken in outside."""
        inside = set(self._ops)
        return self._with(self._input_ts, [t for t in self._output_ts for op in t.consumers() if op not in inside])

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """A view with inputs, outputs or both as they are by themselves."""
        fresh = SubGraphView(self._ops, self._passthrough_ts)
        return self._with(
            fresh._input_ts if remove_input_map else self._input_ts,
            fresh._output_ts if remove_output_map else self._output_ts,
        )

    def __bool__(self) -> bool:
        return self._graph is not None

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        inputs, outputs = ([t.name for t in ts] for ts in (self._input_ts, self._output_ts))
        return f"<SubGraphView of {len(self._ops)} ops: {inputs} -> {outputs}>"

    def __str__(self) -> str:
        lines = [f"SubGraphView (graph of {len(self._ops)} ops):"]
        for title, names in (
            ("Ops", [f"{op.name} ({op.type})" for op in self._ops]),
            ("Inputs", [f"{t.name} {t.get_shape()}" for t in self._input_ts]),
            ("Outputs", [f"{t.name} {t.get_shape()}" for t in self._output_ts]),
        ):
            lines += [f"** {title}:", *(f"  {name}" for name in names)]
        return "\n".join(lines)


def _position(tensors: list[Tensor], t: Tensor, what: str) -> int:
    for position, one in enumerate(tensors):
        if one is t:
            return position
    raise ValueError(f"{t.name} is not one of the {what}: {[one.name for one in tensors]}")


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """The view of what `select.select_ops_and_ts(*args, **kwargs)` finds; a single view is taken as it is.

    Tensors among them are passed through.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    if len(args) == 1 and isinstance(args[0], Graph):
        return SubGraphView(args[0])
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """The view of the operations below a name scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
