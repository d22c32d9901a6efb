"""Records graphs that TensorFlow makes, with the values of one run: `python -m tests.golden.record_imports`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`).
"""

from __future__ import annotations

import base64
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden import oracle
from tests.golden.import_cases import CASES

RECORDING = Path(__file__).parent / "imports" / "graphs.jsonl.xz"


def _as_json(value: Any) -> dict[str, Any]:
    array = np.asarray(value)
    return {"dtype": str(array.dtype), "shape": array.shape, "values": array.ravel().tolist()}


def from_json(value: dict[str, Any]) -> np.ndarray:
    return np.array(value["values"], value["dtype"]).reshape(value["shape"])


def main() -> None:
    tf = oracle.tensorflow()
    lines = []
    for name, case in CASES.items():
        with tf.Graph().as_default():
            fetches, feeds = case(tf)
            graph = tf.get_default_graph()
            with tf.Session() as session:
                values = session.run(fetches, feeds)
            line = {
                "name": name,
                "graph": base64.b64encode(graph.as_graph_def().SerializeToString()).decode(),
                "feeds": {tensor.name: _as_json(value) for tensor, value in feeds.items()},
                "fetches": {tensor.name: _as_json(value) for tensor, value in zip(fetches, values, strict=True)},
            }
        lines.append(json.dumps(line))
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(lzma.compress("\n".join(lines).encode()))
    print(f"{len(lines)} graphs, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
