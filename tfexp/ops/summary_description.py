"""The first TensorSummary, whose node says in an attribute what its values are; `tf.summary` makes the second."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import json_format
from tensorboard.compat.proto import summary_pb2

from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.formats.tensor import array_to_content

tensor_summary_op = define_op(
    "TensorSummary(tensor: T) -> (summary: string) {T: type; description: string = ''; labels: list(string) = []; "
    "display_name: string = ''}"
).not_differentiable()
tensor_summary_op.shape(lambda tensor: TensorShape([]))


@tensor_summary_op.kernel("CPU")
def _(ctx: Any, tensor: Any, *, T: DType) -> np.ndarray:
    summary = summary_pb2.Summary()
    value = summary.value.add(node_name=ctx.node_name)
    value.tensor.CopyFrom(array_to_content(np.asarray(tensor), T))
    return np.array(summary.SerializeToString(), object)


def get_summary_description(node_def: Any) -> summary_pb2.SummaryDescription:
    """What a TensorSummary's node says of itself, in JSON. ValueError for another op's. Source: `tf.summary`, TF 1.15."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}: only TensorSummary nodes have one")
    description = node_def.attr["description"].s.decode()
    return json_format.Parse(description, summary_pb2.SummaryDescription())
