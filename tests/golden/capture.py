"""What is recorded of a golden program, in a form that does not depend on the library that built the graph.

A capture holds, for one program: each node as one line of protobuf text, in graph order; the static shape and
dtype of each output; the names in each collection; the program's facts; and the values its runs fetched. It
is normalised in these ways and no others:

- `versions` and `library` of the GraphDef are left out, and `experimental_*` fields of a node.
- Attributes that TensorFlow gained after 1.15, listed in `tfexp/core/later_attrs.py`, are left out.
- The numbers and random letters at the end of functions' names are left out.
- The number that `tf.custom_gradient` puts in `_gradient_op_type`, which counts ops of the process, is left out.
- So is the number of a Python function's token (`pyfunc_7`).
"""

from __future__ import annotations

import base64
import functools
import json
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format

from tests.golden.programs.registry import Outcome, Program, Run
from tfexp.core.later_attrs import later_attrs

# Of nodes of any type in TensorFlow 2.x.
ON_ANY_OP = frozenset({"_has_manual_control_dependencies", "_pivot_for_cluster", "_read_only_resource_inputs"})

GRAPHS = Path(__file__).parent / "graphs"

# Dtypes that plain NumPy does not have, and those that hold their values in a recording.
WIDENED = {"bfloat16": "float32"}

Capture = dict[str, Any]


def take(program: Program, tf: Any, *, run: bool = True) -> Capture:
    """Builds `program` with `tf` in a fresh graph and describes it; with `run`, also runs what it asks to run."""
    graph = tf.Graph()
    with graph.as_default():
        outcome = program.build(tf) or Outcome()
        graph = outcome.graph or graph
        capture: Capture = {"name": program.full_name, "source": program.source}
        capture["nodes"] = node_lines(graph.as_graph_def(add_shapes=outcome.add_shapes))
        capture["outputs"] = output_lines(graph)
        capture["collections"] = collection_names(graph)
        capture["facts"] = json.loads(json.dumps(outcome.facts))
    if run:
        with tf.Session(graph=graph, config=tf.ConfigProto(device_count={"CPU": outcome.cpus})) as session:
            capture["runs"] = [_run(session, step) for step in outcome.runs]
    return capture


def node_lines(graph_def: Any) -> list[str]:
    """Each node of `graph_def`, normalised, as one line of protobuf text."""
    lines = []
    for original in graph_def.node:
        node = type(original)()
        node.CopyFrom(original)
        for name in ON_ANY_OP | later_attrs(node.op):
            node.attr.pop(name, None)
        for described, _ in node.ListFields():
            if described.name.startswith("experimental_"):
                node.ClearField(described.name)
        line = text_format.MessageToString(node, as_one_line=True, as_utf8=True).strip()
        line = re.sub(r'"(__inference_\w+?)_[0-9]+"|"(_make_dataset)_[\w-]{11}"', r'"\1\2"', line)
        line = re.sub(r'(?<=func { name: ")\w+(?=")', lambda name: re.sub("_[0-9]+(?=_|$)", "", name[0]), line)
        line = re.sub('"pyfunc_[0-9]+"', '"pyfunc"', line)
        line = re.sub(r'"hash_table_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"', '"hash_table_UUID"', line)
        lines.append(re.sub('"CustomGradient-[0-9]+"', '"CustomGradient"', line))
    return lines


def output_lines(graph: Any) -> list[str]:
    """Each output of each op of `graph`: name, dtype and static shape (`?` for what is unknown)."""
    return [
        f"{output.name} {output.dtype.name} {_shape(output.get_shape())}"
        for op in graph.get_operations()
        for output in op.outputs
    ]


def collection_names(graph: Any) -> dict[str, list[str]]:
    """The names of what each collection holds, or the class of what has no name."""
    return {
        key: [
            item.name if isinstance(getattr(item, "name", None), str) else type(item).__name__
            for item in graph.get_collection(key)
        ]
        for key in sorted(graph.get_all_collection_keys())
    }


def _shape(shape: Any) -> str:
    if shape.ndims is None:
        return "?"
    return "[" + ",".join("?" if size is None else str(size) for size in shape.as_list()) + "]"


def _run(session: Any, run: Run) -> dict[str, Any]:
    listed = run.fetches if isinstance(run.fetches, list | tuple) else [run.fetches]
    fetches = [part for fetch in listed for part in _parts(fetch)]
    found = session.run(fetches, dict(run.feeds))
    return {
        "fetches": [fetch.name for fetch in fetches],
        "feeds": [key.name for key in run.feeds],
        "values": [None if value is None else _encode(value) for value in found],
        "rtol": run.rtol,
        "atol": run.atol,
    }


def _parts(fetch: Any) -> list[Any]:
    """`fetch` itself, or the values and indices of `tf.IndexedSlices`."""
    return [fetch.values, fetch.indices] if hasattr(fetch, "indices") else [fetch]


def _encode(value: Any) -> dict[str, Any]:
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        items = [item.encode() if isinstance(item, str) else bytes(item) for item in array.ravel().tolist()]
        data = [base64.b64encode(item).decode() for item in items]
        return {"dtype": "string", "shape": list(array.shape), "data": data}
    if str(array.dtype) in WIDENED:
        return {
            "dtype": str(array.dtype),
            "shape": list(array.shape),
            "data": _bytes(array.astype(np.float32)),
        }
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": _bytes(array)}


def _bytes(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def decode(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The array that a recorded value stands for; strings come as an array of bytes objects."""
    if value["dtype"] == "string":
        array = np.empty(len(value["data"]), object)
        array[:] = [base64.b64decode(item) for item in value["data"]]
        return array.reshape(value["shape"])
    stored = np.dtype(WIDENED.get(value["dtype"], value["dtype"]))
    return np.frombuffer(base64.b64decode(value["data"]), stored).reshape(value["shape"])


@functools.cache
def load(group: str) -> dict[str, Capture]:
    """The recorded captures of `group`, by full program name."""
    path = GRAPHS / f"{group}.jsonl.xz"
    if not path.exists():
        return {}
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    return {capture["name"]: capture for capture in map(json.loads, lines)}


def store(group: str, captures: list[Capture]) -> int:
    """Writes the captures of `group`, the same bytes for the same captures; returns their size."""
    text = "".join(json.dumps(capture, sort_keys=True, separators=(",", ":")) + "\n" for capture in captures)
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (GRAPHS / f"{group}.jsonl.xz").write_bytes(packed)
    return len(packed)
