"""Bytes and graphs that nobody in his right mind would send, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, config_pb2, graph_pb2, node_def_pb2

from tests.distributed.recording import BY_PATH, Recording
from tfexp.core.dtypes import as_dtype
from tfexp.core.op import Arg, Attr, Op, all_ops
from tfexp.distributed import messages as m
from tfexp.distributed.wire import METHODS
from tfexp.formats.tensor import make_tensor_proto
from tfexp.runtime.collectives import Member

# Ops that wait, write files, or start threads are no match for a graph made up at random.
_LEFT_OUT = (
    "File", "Save", "Restore", "Queue", "Reader", "Iterator", "Dataset", "Recv", "Send", "Print", "Assert",
    "Collective", "Stage", "Unstage", "MapPeek", "Barrier", "SummaryWriter", "SummaryFileWriter",
)  # fmt: skip
_SIZES = (0, 1, 2, 3, 7, -1, -7, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, 1 << 60, (1 << 63) - 1, -(1 << 63))
_NAMES = ("a", "b\nc", "'quoted'", '"', "nul\0", "é", "/job:ps", "x" * 300, "", "^a", "a:0", "{{node a}}")


def corpus(session: str) -> dict[str, list[bytes]]:
    """Requests that make sense, by method: those that TensorFlow's client once sent, and one of ours for the others."""
    requests: dict[str, list[bytes]] = {path: [] for path in BY_PATH}
    for call in Recording.load("tensorflow_client").calls:
        request = BY_PATH[call.path].request.FromString(call.request)
        # A step that waits for a queue would wait for ever.
        if call.path.endswith("RunStep") and any(name.startswith("take") for name in request.fetch):
            continue
        if "session_handle" in request.DESCRIPTOR.fields_by_name:
            request.session_handle = session
        requests[call.path].append(request.SerializeToString())
    graph = graph_pb2.GraphDef()
    graph.node.add(name="c", op="NoOp")
    ones = np.ones(3, np.float32)
    for example in (
        m.Reset(("no such container",)),
        m.CompleteGroup(1, 1, Member("/job:local/replica:0/task:0/device:CPU:0", 5)),
        m.MakeCallable(session, config_pb2.CallableOptions(fetch=["w:0"])),
        m.RunCallable(session, 1, (ones,)),
        m.ReleaseCallable(session, 1),
        m.GetStatus(),
        m.CreateWorkerSession("f00d", "local", 0, {"local": {0: "localhost:1"}}),
        m.DeleteWorkerSession("f00d"),
        m.RegisterGraph("", graph),
        m.DeregisterGraph("", "1"),
        m.RunGraph("", "1", 7, {"k": ones}, ("w",)),
        m.CleanupGraph(7),
        m.CleanupAll(("no such container",)),
        m.RecvTensor(7, "/job:local/replica:0/task:0/device:CPU:0;0000000000000001;x;edge;0:0"),
    ):
        method = METHODS[type(example)]
        requests[method.path].append(method.request_bytes(example))
    return requests


def recorded_graph() -> graph_pb2.GraphDef:
    """The graph of the recorded conversation, for a server that is alone."""
    request = BY_PATH["/tensorflow.MasterService/CreateSession"].request.FromString(
        Recording.load("tensorflow_client").calls[0].request
    )
    for node in request.graph_def.node:
        node.device = ""
    return request.graph_def


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """`data` with a few bytes changed, cut, repeated, or mixed with those of another message."""
    out = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(6):
            case 0 if out:
                out[at % len(out)] = rng.randrange(256)
            case 1 if out:
                out[at % len(out)] ^= 1 << rng.randrange(8)
            case 2:
                del out[at:]
            case 3:
                out[at:at] = rng.randbytes(rng.randrange(1, 30))
            case 4:
                out[at:at] = other[rng.randrange(len(other) + 1) :]
            case 5:
                out[at : at + 4] = b"\xff\xff\xff\xff\x7f"
    return bytes(out)


def random_graphs(count: int, seed: int) -> Iterator[graph_pb2.GraphDef]:
    """Graphs of registered ops over odd constants, with attrs of the right kind and the wrong values."""
    rng = random.Random(seed)
    ops = [op for name, op in sorted(all_ops().items()) if not any(word in name for word in _LEFT_OUT)]
    for number in range(count):
        yield _random_graph(rng, ops[number % len(ops)])


def _random_graph(rng: random.Random, op: Op) -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    node = node_def_pb2.NodeDef(name="n", op=op.name)
    for attr in op.attrs.values():
        if not attr.has_default or rng.random() < 0.2:
            _fill_in(node.attr[attr.name], attr, rng)
    for arg in op.inputs:
        for kind in _types(node, arg):
            value = _odd_tensor(rng, kind)
            constant = graph.node.add(name=f"c{len(node.input)}", op="Const")
            constant.attr["dtype"].type = value.dtype
            constant.attr["value"].tensor.CopyFrom(value)
            if rng.random() < 0.7:
                # Its shape and value are known when the graph is built; behind this node they are not.
                hidden = graph.node.add(name=f"h{len(node.input)}", op="PlaceholderWithDefault", input=[constant.name])
                hidden.attr["dtype"].type = value.dtype
                hidden.attr["shape"].shape.unknown_rank = True
                constant = hidden
            node.input.append(constant.name)
    graph.node.append(node)
    return graph


def _types(node: node_def_pb2.NodeDef, arg: Arg) -> list[int]:
    """The DataTypes that an input of a node wants, by its attrs; not more of them than a test can afford."""
    if arg.type_list_attr is not None:
        return list(node.attr[arg.type_list_attr].list.type)[:5]
    kind = node.attr[arg.type_attr].type if arg.type_attr is not None else getattr(arg.dtype, "as_datatype_enum", 1)
    return [kind] * (1 if arg.number_attr is None else max(0, min(node.attr[arg.number_attr].i, 5)))


def _odd_tensor(rng: random.Random, kind: int) -> Any:
    values: Any = rng.choice(
        ([], [1], [0, 1, 2], [[1, 2], [3, 4]], [[[1.5]]], 5, 0, -1, [-1], [0, 1, 2, 3, 7, -1], [1 << 30, 1 << 30], [7] * 5)
    )
    try:
        return make_tensor_proto(_cast(values, kind), dtype=kind)
    except (TypeError, ValueError, OverflowError):
        return make_tensor_proto(np.array([1, 2, 3], np.int32))


def _cast(values: Any, kind: int) -> Any:
    with np.errstate(over="ignore"):
        return np.array(values).astype(as_dtype(kind).as_numpy_dtype)


def _fill_in(value: attr_value_pb2.AttrValue, attr: Attr, rng: random.Random) -> None:
    fillers: dict[str, Callable[[], Any]] = {
        "type": lambda: setattr(value, "type", _type(attr, rng)),
        "int": lambda: setattr(value, "i", rng.choice((1, 2, 3) if rng.random() < 0.7 else _SIZES)),
        "float": lambda: setattr(value, "f", rng.choice((0.0, -1.0, 1e38, float("nan")))),
        "bool": lambda: setattr(value, "b", rng.random() < 0.5),
        "string": lambda: setattr(value, "s", _word(attr, rng)),
        "shape": lambda: value.shape.dim.add(size=rng.choice(_SIZES)),
        "tensor": lambda: value.tensor.CopyFrom(_odd_tensor(rng, 1)),
        "func": lambda: setattr(value.func, "name", rng.choice(_NAMES)),
        "list(int)": lambda: value.list.i.extend(rng.choices(_SIZES, k=4)),
        "list(type)": lambda: value.list.type.extend(rng.choices((1, 3, 7, 999), k=2)),
        "list(shape)": lambda: value.list.shape.add(unknown_rank=True),
        "list(string)": lambda: value.list.s.extend([b"a", b"\xff"]),
    }
    fillers.get(attr.kind, lambda: value.list.SetInParent())()


def _type(attr: Attr, rng: random.Random) -> int:
    if rng.random() < 0.1:
        return rng.choice((0, 7, 20, 101, 999))
    return int(rng.choice(attr.allowed).as_datatype_enum) if attr.allowed else rng.choice((1, 1, 3, 9))


def _word(attr: Attr, rng: random.Random) -> bytes:
    if attr.allowed and rng.random() < 0.9:
        word = rng.choice(attr.allowed)
        return word if isinstance(word, bytes) else str(word).encode()
    return rng.choice(_NAMES).encode()
