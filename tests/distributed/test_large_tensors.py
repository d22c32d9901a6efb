"""Tensors that travel beside their messages: the bytes are protobuf's, whoever wrote them, and bad ones are refused."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tensorboard.compat.proto import tensor_pb2

from tfexp.core import errors
from tfexp.distributed import large_tensors
from tfexp.distributed import messages as m
from tfexp.distributed.wire import METHODS
from tfexp.formats.tensor import array_to_wire

RUN = m.RunStep(
    "session",
    (
        ("small:0", np.float32(1)),
        ("large:0", np.arange(9_001, dtype=np.float32)),
        ("half:0", np.arange(10_007).astype(ml_dtypes.bfloat16).reshape(1, -1)),
    ),
    ("y:0",),
    ("train",),
)
STEP = METHODS[m.RunStep]


def _arrays(request: m.Request) -> dict[str, Any]:
    assert isinstance(request, m.RunStep)
    return {name: np.asarray(m.as_array(value)) for name, value in request.feeds}


def test_the_bytes_are_those_of_protobuf() -> None:
    mine = STEP.request.FromString(STEP.request_bytes(RUN))
    assert mine == STEP.encode(RUN)


def test_protobufs_bytes_are_read_in_the_order_of_the_feeds() -> None:
    read, in_body = STEP.read_request(STEP.encode(RUN).SerializeToString())
    assert in_body
    assert isinstance(read, m.RunStep)
    assert [name for name, _ in read.feeds] == ["small:0", "large:0", "half:0"]
    for name, value in RUN.feeds:
        np.testing.assert_array_equal(_arrays(read)[name], value)
    large = dict(read.feeds)["large:0"]
    assert isinstance(large, np.ndarray) and large.flags.aligned and large.flags.writeable


def test_an_array_is_not_copied_on_its_way_out() -> None:
    arrays: list[Any] = []
    feed = np.ones(50_021)
    detached = large_tensors.detached(m.TensorReceived(feed), arrays)
    assert np.shares_memory(arrays[0], feed)
    assert np.shares_memory(large_tensors.attached(detached, arrays).value, feed)


UNUSUAL = {
    "strings": array_to_wire(np.array([b"x" * 40] * 1_009, object)),
    "a reference": tensor_pb2.TensorProto(dtype=101, tensor_content=bytes(40_000)),
    "no type": tensor_pb2.TensorProto(tensor_content=bytes(40_000)),
    "an unknown type": tensor_pb2.TensorProto(dtype=77, tensor_content=bytes(40_000)),
    "a resource": tensor_pb2.TensorProto(dtype=20, tensor_content=bytes(40_000)),
    "a count of its own": tensor_pb2.TensorProto(dtype=1, version_number=1, tensor_content=bytes(40_000)),
    "values": tensor_pb2.TensorProto(dtype=1, float_val=[1.0] * 9_001),
}


@pytest.mark.parametrize("proto", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_not_plain_stays_in_its_message_or_is_refused(proto: tensor_pb2.TensorProto) -> None:
    method = METHODS[m.RecvTensor]
    data = method.response(tensor=proto).SerializeToString()
    small, arrays = large_tensors.split(method.response.DESCRIPTOR.name, data)
    if arrays:
        with pytest.raises(errors.InvalidArgumentError, match="cannot be read"):
            method.read_reply(data, m.RecvTensor(1, "k"))
    else:
        assert method.response.FromString(small).tensor == proto


def test_damaged_bytes_are_refused_or_read() -> None:
    good = STEP.request_bytes(RUN)
    dice = random.Random(5)
    heads = [*range(60), *range(good.index(b"large:0"), good.index(b"large:0") + 40)]
    for _ in range(3_000):
        data = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            data[dice.choice(heads)] = dice.randrange(256)
        if dice.random() < 0.3:
            del data[dice.randrange(len(data)) :]
        with contextlib.suppress(errors.InvalidArgumentError):
            assert isinstance(STEP.read_request(bytes(data))[0], m.RunStep)
