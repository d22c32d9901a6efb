"""`tensorflow.python.kernel_tests.signal.test_util`: what tests of signal processing share. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import extract_sub_graph


def fft_kernel_label_map() -> contextlib.AbstractContextManager[None]:
    """Where TensorFlow's tests choose a kernel: there is one for each transform here. `ops.spectral_ops_test_util`."""
    return contextlib.nullcontext()


def grappler_optimize(graph: Graph, fetches: Sequence[Any] | None = None, rewriter_config: Any = None) -> Any:
    """The GraphDef that `fetches` need. Plans are what is optimized here, never the graph."""
    definition = graph.as_graph_def()
    if not fetches:
        return definition
    return extract_sub_graph(definition, [tensor.op.name for tensor in fetches])
