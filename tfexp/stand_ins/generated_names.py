"""What TensorFlow calls the generated function of an op."""

from __future__ import annotations

import re


def generated_name(op: str) -> str:
    """What TensorFlow calls the generated function of an op: `MatMul` is `mat_mul`, `FIFOQueueV2` `fifo_queue_v2`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op).lower()
