"""A session's graph on its master: grows by GraphDefs, finds fetches and feeds by name, is placed and cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto import graph_pb2

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError, NotFoundError, OpError
from tfexp.graph.graph import Graph
from tfexp.graph.graphdef import extend_graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.assign import Places
from tfexp.plan.partition import needed, partition
from tfexp.plan.stages import Partition


class WireGraph(Graph):
    """A graph whose nodes another process named: a master's own nodes may begin with an underscore."""

    def _node_name(self, name: str) -> str:
        return super()._node_name(f"x{name}")[1:] if name.startswith("_") else super()._node_name(name)


class SessionGraph:
    """Built from the wire: whatever is wrong with what comes is an InvalidArgumentError, and changes nothing."""

    def __init__(self, graph_def: graph_pb2.GraphDef):
        self.graph: Graph = WireGraph()
        self.version = 0
        add_nodes(self.graph, graph_def)

    def extend(self, graph_def: graph_pb2.GraphDef) -> None:
        add_nodes(self.graph, graph_def)
        self.version += 1

    def operation(self, name: str, role: str) -> Operation:
        op = self.graph._by_name.get(name)
        if op is None:
            raise _missing(f"{role} {name!r} is no node of the session's graph", role)
        return op

    def tensor(self, name: str, role: str) -> Tensor:
        """The tensor `x:0` (or `x`, its first). NotFoundError if there is none, as TensorFlow's master has it."""
        node, _, index = name.rpartition(":")
        if not node or not index.isdigit():
            node, index = name, "0"
        op = self.graph._by_name.get(node)
        if op is None:
            raise _missing(f"{role} {name}: not found", role)
        if int(index) >= len(op._outputs):
            raise InvalidArgumentError(
                None, None, f"{role} output index out of range: node {node} has {len(op._outputs)} outputs, not {index}"
            )
        return op._outputs[int(index)]

    def elements(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> Elements:
        """What the names of a step mean."""
        if len(set(feeds)) != len(feeds):
            raise InvalidArgumentError(None, None, f"Duplicated feeds: {', '.join(sorted(feeds))}")
        fed = [self.tensor(name, "FeedInputs: unable to find feed output") for name in feeds]
        fetched = [self.tensor(name, "FetchOutputs node") for name in fetches]
        return Elements(fed, fetched, [self.operation(name.partition(":")[0], "Target node") for name in targets])


class Elements(NamedTuple):
    """What a step is given, gives and runs."""

    feeds: list[Tensor]
    fetches: list[Tensor]
    targets: list[Operation]

    def cut(
        self,
        places: Places,
        incarnations: dict[str, int],
        client_device: str,
        narrow: DType | None = None,
    ) -> Partition:
        """The stages of the step; `narrow` as `plan.partition` has it."""
        feeds, fetches, targets = self
        places.place(needed(fetches, targets, feeds))
        return partition(fetches, targets, feeds, places, incarnations, client_device, narrow)


def add_nodes(graph: Graph, graph_def: graph_pb2.GraphDef) -> None:
    """Add nodes whose inputs are among them or in the graph. InvalidArgumentError, with nothing added, if that fails."""
    known = graph._by_name
    twice = [node.name for node in graph_def.node if node.name in known]
    if twice:
        raise InvalidArgumentError(
            None, None, f"Nodes that the session's graph has already: {', '.join(map(repr, sorted(twice)[:20]))}"
        )
    new = {node.name for node in graph_def.node}
    outside: dict[str, Any] = {}
    for node in graph_def.node:
        for text in node.input:
            name = text.removeprefix("^")
            base, _, index = name.rpartition(":")
            if not base or not index.isdigit():
                base, index = name, "0"
            if base in new or base not in known:
                continue
            op = known[base]
            if text.startswith("^"):
                outside[text] = op
            elif int(index) < len(op._outputs):
                outside[text] = op._outputs[int(index)]
    try:
        extend_graph(graph, graph_def, outside)
    except OpError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, MemoryError) as error:
        raise InvalidArgumentError(
            None, None, f"{type(error).__name__}: {error}" if not str(error) else str(error)
        ) from None


def _missing(text: str, role: str) -> OpError:
    return (InvalidArgumentError if role.startswith("Feed") else NotFoundError)(None, None, text)
