"""Where the two seeds of a random op come from. Source: `tf.set_random_seed`, `tf.get_seed`.

An op without a seed of its own, in a graph that has one, is numbered: the first such op of the graph gets 0, the next 1.
(So does TensorFlow 2's `compat.v1`, whose graphs are tfexp's reference. TensorFlow 1.15 took the id of the graph's last
node instead, which moved with every unrelated node.)
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph

DEFAULT_GRAPH_SEED = 87654321

# Seeds are reduced modulo this; it also stands in for a pair of zeros, which would mean "not reproducible".
_MODULUS = 2**31 - 1

_ops_numbered: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()


def set_random_seed(seed: int | None) -> None:
    """Set the default graph's seed; None takes it away. Source: `tf.set_random_seed`."""
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[Any, Any]:
    """The attributes (seed, seed2) of the next random op of the default graph; (None, None) when neither level has one.

    Both levels together decide: a graph seed alone, an op seed alone (with DEFAULT_GRAPH_SEED), or the pair.
    TypeError for a seed that is not a number. Source: `tf.get_seed`.
    """
    graph = get_default_graph()
    if graph.seed is None:
        if op_seed is None:
            return None, None
        graph_seed = DEFAULT_GRAPH_SEED
    else:
        graph_seed = _reduced(graph.seed)
        if op_seed is None and graph.is_eager:
            op_seed = graph.next_op_seed()
        elif op_seed is None:
            op_seed = _ops_numbered.get(graph, 0)
            _ops_numbered[graph] = op_seed + 1
    op_seed = _reduced(op_seed)
    if (graph_seed, op_seed) == (0, 0):
        return 0, _MODULUS
    return graph_seed, op_seed


def _reduced(seed: Any) -> Any:
    if isinstance(seed, (str, bytes)):
        raise TypeError(f"A random seed must be a number, got {seed!r}")
    return seed % _MODULUS
