"""What real TensorFlow said on the wire, said again without it (`python -m tests.golden.record_wire` wrote it down)."""

from __future__ import annotations

import re
from typing import Any

import grpc
import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running
from tests.distributed.recording import BY_PATH, Call, Recording, speaking
from tests.distributed.wire_program import EMPTY_QUEUE_MS, converse
from tfexp.core import errors
from tfexp.distributed.messages import as_array

# Two engines may add up floats in another order.
TOLERANCE = 1e-5
NODE = re.compile(r"\{\{node [^}]+\}\}")


def _again(call: Call, handles: dict[str, str], channel: grpc.Channel) -> tuple[Any, int, str]:
    """The server's response to a recorded request with the session handle of today, and the status, wherever it stood."""
    method = BY_PATH[call.path]
    request = method.request.FromString(call.request)
    if "session_handle" in request.DESCRIPTOR.fields_by_name:
        request.session_handle = handles[request.session_handle]
    try:
        data = channel.unary_unary(call.path)(request.SerializeToString(), timeout=30)
    except grpc.RpcError as error:
        return None, error.code().value[0], error.details()
    response = method.response.FromString(data)
    return response, getattr(response, "status_code", 0), getattr(response, "status_error_message", "")


def _tensors(response: Any) -> dict[str, Any]:
    return {named.name: as_array(named.tensor) for named in getattr(response, "tensor", ())}


def test_our_server_answers_tensorflows_client_as_recorded() -> None:
    recording = Recording.load("tensorflow_client")
    handles: dict[str, str] = {}
    codes = []
    with running(ps=1, worker=1) as servers:
        address = servers["worker:0"].target.removeprefix("grpc://")
        with grpc.insecure_channel(address) as channel:
            for number, call in enumerate(recording.calls):
                where = f"request {number}, {call.path}"
                response, code, text = _again(call, handles, channel)
                if call.response is None and call.code is None:
                    # The client's time was up before an answer came: the server finds the same by itself.
                    assert code == errors.DEADLINE_EXCEEDED, f"{where}: {text}"
                    assert str(EMPTY_QUEUE_MS) in text
                    codes.append(code)
                    continue
                assert call.response is not None, where
                recorded = BY_PATH[call.path].response.FromString(call.response)
                if hasattr(recorded, "session_handle"):
                    handles[recorded.session_handle] = response.session_handle
                if hasattr(recorded, "new_graph_version"):
                    assert response.new_graph_version == recorded.new_graph_version, where
                if hasattr(recorded, "local_device"):
                    for field in ("local_device", "remote_device"):
                        assert [(d.name, d.device_type) for d in getattr(response, field)] == [
                            (d.name, d.device_type) for d in getattr(recorded, field)
                        ]
                assert code == getattr(recorded, "status_code", 0), f"{where}: {text}"
                # By this TensorFlow's client finds the node that failed.
                assert NODE.findall(text) == NODE.findall(getattr(recorded, "status_error_message", "")), where
                codes += [code] if code else []
                wanted, got = _tensors(recorded), _tensors(response)
                assert list(got) == list(wanted), where
                for name, value in wanted.items():
                    assert got[name].dtype == value.dtype, f"{where}: {name}"
                    if value.dtype == object:
                        np.testing.assert_array_equal(got[name], value, err_msg=f"{where}: {name}")
                    else:
                        np.testing.assert_allclose(got[name], value, rtol=TOLERANCE, err_msg=f"{where}: {name}")
    assert codes == [code for _, code, _ in recording.seen["errors"]]
    assert handles


@pytest.fixture(scope="module")
def replayed() -> tuple[Recording, dict[str, Any], list[Call]]:
    """A conversation of our client with TensorFlow's server, what our client sees of it now, and what it sends."""
    recording = Recording.load("tensorflow_server")
    heard: list[Call] = []
    nowhere = {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}
    with speaking(recording.calls, heard) as address, tf.Graph().as_default():
        seen = converse(tf, f"grpc://{address}", nowhere)
    return recording, seen, heard


def test_our_client_understands_tensorflows_server(replayed: tuple[Recording, dict[str, Any], list[Call]]) -> None:
    recording, seen, _ = replayed
    assert seen == recording.seen
    assert [name for name, _, _ in seen["errors"]] == [
        "InvalidArgumentError",
        "DeadlineExceededError",
        "OutOfRangeError",
        "FailedPreconditionError",
    ]


def test_our_client_sends_what_tensorflows_server_was_sent(
    replayed: tuple[Recording, dict[str, Any], list[Call]],
) -> None:
    recording, _, heard = replayed
    assert [call.path for call in heard] == [call.path for call in recording.calls]
    for number, (now, then) in enumerate(zip(heard, recording.calls, strict=True)):
        kind = BY_PATH[now.path].request
        got, wanted = kind.FromString(now.request), kind.FromString(then.request)
        if hasattr(got, "target") and isinstance(got.target, str):
            got.target = ""  # the server's address, which is another every time
        assert got == wanted, f"request {number}, {now.path}"
