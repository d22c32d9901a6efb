"""Tokens, TLS and where a server listens."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec
from tfexp.core import errors
from tfexp.distributed import messages as m
from tfexp.distributed import server as server_module
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.lane import LaneChannel, available
from tfexp.distributed.security import Security
from tfexp.distributed.wire import METHODS

SECRET = Security(token="open sesame")
TLS = Path(__file__).parent / "tls"  # made for these tests: an authority, a task of it for localhost, another authority
SERVING = Security(certificate=str(TLS / "task.pem"), key=str(TLS / "task.key"))
TRUSTING = Security(authority=str(TLS / "ca.pem"))


@contextlib.contextmanager
def serving(security: Security) -> Iterator[str]:
    server = tf.train.Server({"local": ["localhost:0"]}, security=security)
    try:
        yield server.target.removeprefix("grpc://")
    finally:
        server.stop()


@contextlib.contextmanager
def asking(address: str, security: Security) -> Iterator[LaneChannel]:
    channel = LaneChannel(GrpcChannel(address, "", security), security)
    try:
        yield channel
    finally:
        channel.close()


@pytest.mark.parametrize("token", ["", "open", "open sesame!", "OPEN SESAME"])
def test_a_wrong_token_is_refused_without_showing_either(token: str) -> None:
    with serving(SECRET) as address, asking(address, Security(token=token)) as channel:
        with pytest.raises(errors.UnauthenticatedError, match="serves only those who bring its token") as caught:
            channel.call(m.GetStatus())
        assert "sesame" not in caught.value.message
        assert channel.lanes == 0
    assert "sesame" not in repr(SECRET)


def test_the_token_is_wanted_for_every_method() -> None:
    paths = [method.path for method in METHODS.values()]
    paths += ["/tfexp.Lanes/Open", "/tensorflow.WorkerService/Logging", "/no.Service/AtAll"]
    with serving(SECRET) as address, grpc.insecure_channel(address) as channel:
        for path in paths:
            with pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary(path)(b"")
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED, path  # type: ignore[attr-defined]


def test_the_right_token_opens_lanes_too() -> None:
    with serving(SECRET) as address, asking(address, SECRET) as channel:
        assert isinstance(channel.call(m.GetStatus()), m.Status)
        assert channel.lanes == (1 if available() else 0)


def test_a_cluster_and_its_sessions_share_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFEXP_TOKEN", "open sesame")
    spec = cluster_spec(ps=1, worker=1)
    servers = [tf.train.Server(spec, job, 0) for job in ("ps", "worker")]
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(5.0)
        for forgotten in (False, True):
            if forgotten:  # an own session at another process's server takes the environment's
                monkeypatch.setattr(server_module, "_serving", {})
            with tf.Session(servers[1].target) as sess:
                sess.run(v.initializer)
                assert sess.run(v) == 5.0
        monkeypatch.setenv("TFEXP_TOKEN", "another")
        with tf.Session(servers[1].target) as sess, pytest.raises(tf.errors.UnauthenticatedError):
            sess.run(v)
    for server in servers:
        server.stop()


def test_sessions_reach_the_cluster_of_a_server_as_it_does() -> None:
    spec = cluster_spec(ps=1, worker=1)
    ps, worker = (tf.train.Server(spec, job, 0, security=SECRET) for job in ("ps", "worker"))
    seen = []
    original = server_module._channel

    def channel(address: str, name: str, security: Security, *more: Any) -> Any:
        seen.append(security)
        return original(address, name, security, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_module, "_channel", channel)
        patch.delitem(server_module._serving, ps._address)
        with tf.Graph().as_default(), tf.Session(ps.target) as sess:
            assert sess.run(tf.constant(1.0) + 1.0) == 2.0
    assert seen and set(seen) == {SECRET}
    worker.stop()
    ps.stop()


def test_tls_serves_those_who_know_the_authority() -> None:
    with serving(SERVING) as address:
        with asking(address, TRUSTING) as channel:
            assert isinstance(channel.call(m.GetStatus()), m.Status)
        for other in (Security(), replace(TRUSTING, authority=str(TLS / "other.pem"))):
            with asking(address, other) as channel, pytest.raises(errors.UnavailableError, match=address):
                channel.call(m.GetStatus())


def test_mutual_tls_wants_certificates_of_clients() -> None:
    both = replace(SERVING, authority=TRUSTING.authority, mutual=True)
    with serving(both) as address:
        with asking(address, both) as channel:
            assert isinstance(channel.call(m.GetStatus()), m.Status)
        with asking(address, TRUSTING) as channel, pytest.raises(errors.UnavailableError):
            channel.call(m.GetStatus())


def test_a_server_that_others_can_reach_warns_without_protection(caplog: pytest.LogCaptureFixture) -> None:
    both = replace(SERVING, authority=TRUSTING.authority, mutual=True)
    for security, warned in ((Security(), True), (SERVING, True), (SECRET, False), (both, False)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "tfexp.distributed"):
            tf.train.Server({"local": ["localhost:0"]}, bind="0.0.0.0", security=security).stop()
        assert ("whoever can reach the port" in caplog.text) is warned


def test_the_environment_says_it(tmp_path: Path) -> None:
    assert Security.from_environment({}) == Security()
    token = tmp_path / "token"
    token.write_text("abc\n")
    assert Security.from_environment({"TFEXP_TOKEN_FILE": str(token)}).token == "abc"
    variables = {
        "TFEXP_TOKEN": "t",
        "TFEXP_TLS_CERT": "c",
        "TFEXP_TLS_KEY": "k",
        "TFEXP_TLS_CA": "a",
        "TFEXP_TLS_MUTUAL": "1",
        "TFEXP_MAX_MESSAGE_BYTES": "5000",
        "TFEXP_LANES": "off",
    }
    assert Security.from_environment(variables) == Security("t", "c", "k", "a", True, 5000, False)


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"TFEXP_TLS_CERT": "c"}, "one of the two is missing"),
        ({"TFEXP_TLS_MUTUAL": "1"}, "Mutual TLS takes"),
        ({"TFEXP_MAX_MESSAGE_BYTES": "many"}, "TFEXP_MAX_MESSAGE_BYTES is 'many'"),
        ({"TFEXP_MAX_MESSAGE_BYTES": "10"}, "it has to be from 4096"),
        ({"TFEXP_TOKEN": "a\nb"}, "printable ASCII"),
        ({"TFEXP_TOKEN_FILE": "/nowhere/token"}, "TFEXP_TOKEN_FILE cannot be read"),
    ],
)
def test_what_makes_no_sense_is_said(variables: dict[str, str], text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=text):
        Security.from_environment(variables)


def test_a_certificate_that_is_not_there_is_named() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="nowhere"):
        tf.train.Server({"local": ["localhost:0"]}, security=Security(certificate="nowhere", key="nowhere"))
