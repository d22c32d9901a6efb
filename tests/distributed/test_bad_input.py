"""Whatever comes over the wire gets a status, and the server lives on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
from tensorboard.compat.proto import attr_value_pb2, config_pb2, graph_pb2, tensor_pb2, types_pb2

import tfexp as tf
from tfexp.core import errors
from tfexp.distributed import messages as m
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.wire import METHODS


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = tf.train.Server.create_local_server()
    yield server.target.removeprefix("grpc://")
    server.stop()


@pytest.fixture
def channel(address: str) -> Iterator[GrpcChannel]:
    channel = GrpcChannel(address)
    yield channel
    # Others are not touched by what a test did.
    with tf.Graph().as_default():
        y = tf.constant(2.0) * tf.placeholder(tf.float32, name="x")
        created: Any = channel.call(m.CreateSession(y.graph.as_graph_def(), config_pb2.ConfigProto()))
        reply: Any = channel.call(m.RunStep(created.session, (("x:0", np.float32(4)),), (y.name,), ()))
    assert m.as_array(reply.values[0]) == 8.0
    channel.close()


def _node(name: str, op: str, *inputs: str, **types: int) -> Any:
    node = graph_pb2.GraphDef().node.add(name=name, op=op, input=inputs)
    for key, value in types.items():
        node.attr[key].CopyFrom(attr_value_pb2.AttrValue(type=value))
    return node


FLOAT = types_pb2.DT_FLOAT

HOSTILE = {
    "an unknown op": [_node("a", "Bomb")],
    "a cycle": [_node("a", "Identity", "b", T=FLOAT), _node("b", "Identity", "a", T=FLOAT)],
    "itself": [_node("a", "Identity", "a", T=FLOAT)],
    "an input that is not there": [_node("a", "Identity", "b", T=FLOAT)],
    "an output that is not there": [_node("p", "Placeholder", dtype=FLOAT), _node("a", "Identity", "p:7", T=FLOAT)],
    "one name twice": [_node("a", "NoOp"), _node("a", "NoOp")],
    "a line break": [_node("a\nb", "NoOp")],
    "quotes": [_node("a';import os#", "NoOp")],
    "no name": [_node("", "NoOp")],
    "a missing attr": [_node("a", "Placeholder")],
    "an attr of another kind": [_node("a", "Placeholder", dtype=999)],
    "a number of inputs": [_node("a", "NoOp"), _node("b", "Identity", T=FLOAT)],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_graphs(channel: GrpcChannel, what: str) -> None:
    graph = graph_pb2.GraphDef(node=HOSTILE[what])
    refused = errors.NotFoundError if what == "an unknown op" else errors.InvalidArgumentError
    with pytest.raises(refused):
        channel.call(m.CreateSession(graph, config_pb2.ConfigProto()))
    with pytest.raises(refused):
        channel.call(m.RegisterGraph("", graph))


def _tensor(**fields: Any) -> tensor_pb2.TensorProto:
    dims = fields.pop("dims", ())
    tensor = tensor_pb2.TensorProto(dtype=fields.pop("dtype", FLOAT), **fields)
    for size in dims:
        tensor.tensor_shape.dim.add(size=size)
    return tensor


TENSORS = {
    "too little": _tensor(dims=[3], tensor_content=b"abcd"),
    "too much": _tensor(dims=[1], tensor_content=b"abcd" * 5),
    "absurd": _tensor(dims=[1 << 40, 1 << 40], tensor_content=b"abcd"),
    "huge and one value": _tensor(dims=[1 << 45], float_val=[1.0]),
    "negative": _tensor(dims=[-5], tensor_content=b"abcd"),
    "of no type": _tensor(dtype=0, dims=[1]),
    "of an unknown type": _tensor(dtype=99, dims=[1]),
    "a resource": _tensor(dtype=types_pb2.DT_RESOURCE, dims=[1]),
    "strings cut off": _tensor(dtype=types_pb2.DT_STRING, dims=[2], tensor_content=b"\xff"),
}


@pytest.mark.parametrize("what", TENSORS)
def test_fed_tensors(channel: GrpcChannel, what: str) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, name="x"), name="y")
    created: Any = channel.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
    with pytest.raises((errors.InvalidArgumentError, errors.ResourceExhaustedError)):
        channel.call(m.RunStep(created.session, (("x:0", TENSORS[what]),), ("y:0",), ()))


CONSTANTS = ("too little", "too much", "absurd", "huge and one value", "negative")


@pytest.mark.parametrize("what", CONSTANTS)
def test_constants(channel: GrpcChannel, what: str, caplog: pytest.LogCaptureFixture) -> None:
    node = _node("c", "Const", dtype=FLOAT)
    node.attr["value"].tensor.CopyFrom(TENSORS[what])
    created: Any = channel.call(m.CreateSession(graph_pb2.GraphDef(node=[node]), config_pb2.ConfigProto()))
    with pytest.raises(errors.InvalidArgumentError, match=r"Cannot parse tensor from proto(.|\n)*node c\b"):
        channel.call(m.RunStep(created.session, (), ("c:0",), ()))
    assert "could not be run" not in caplog.text  # it is the client's mistake, not this server's


def test_names(channel: GrpcChannel) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, name="x"), name="y")
    created: Any = channel.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
    for name in ("", ":", "y:99999999999999999999", "y:-1", "'; DROP", "y\n", "^y", "x:0:0"):
        with pytest.raises(errors.OpError):
            channel.call(m.RunStep(created.session, (), (name,), ()))
        with pytest.raises(errors.OpError):
            channel.call(m.RunStep(created.session, ((name, np.float32(1)),), ("y:0",), ()))
    for key in ("", ";;;;", "a;b;c;d;e", "x" * 1000):
        with pytest.raises(errors.OpError):
            channel.call(m.RecvTensor(1, key))


def test_bytes_that_are_no_messages(address: str, channel: GrpcChannel) -> None:
    rng = random.Random(1)
    raw = grpc.insecure_channel(address)
    valid = [method.encode(_example(kind)).SerializeToString() for kind, method in METHODS.items() if _example(kind)]
    for method in METHODS.values():
        stub = raw.unary_unary(method.path)
        for _ in range(12):
            base = bytearray(rng.choice(valid))
            for _ in range(rng.randrange(1, 6)):
                if base:
                    base[rng.randrange(len(base))] = rng.randrange(256)
            data = bytes(base[: rng.randrange(len(base) + 1)]) if rng.random() < 0.5 else bytes(base)
            code = stub.future(data, timeout=60).code()
            assert code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), method.name
    raw.close()


def _example(kind: type) -> Any:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="c")
    graph_def = graph.as_graph_def()
    examples: dict[type, Any] = {
        m.CreateSession: m.CreateSession(graph_def, config_pb2.ConfigProto()),
        m.ExtendSession: m.ExtendSession("s", graph_def, 3),
        m.RunStep: m.RunStep("s", (("x:0", np.ones(3, np.float32)),), ("y:0",), ("z",)),
        m.RegisterGraph: m.RegisterGraph("", graph_def),
        m.RunGraph: m.RunGraph("", "g", 5, {"k": np.float32(1)}, ("w",)),
    }
    return examples.get(kind)


def test_an_unknown_method(address: str, channel: GrpcChannel) -> None:
    raw = grpc.insecure_channel(address)
    with pytest.raises(grpc.RpcError) as caught:
        raw.unary_unary("/tensorflow.MasterService/Nothing")(b"", timeout=60)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    raw.close()
