"""Channels over gRPC to peers that are slow, or stop."""

from __future__ import annotations

import contextlib
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import tfexp as tf
from tfexp.distributed import messages as m
from tfexp.distributed.channel import GrpcChannel


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    while data := source.recv(1 << 16):
        sink.sendall(data)
    with contextlib.suppress(OSError):  # the other side is gone already
        sink.shutdown(socket.SHUT_WR)


def test_a_peer_may_take_its_time_to_accept_a_connection() -> None:
    """A busy process does not answer at once: a call waits for the connection instead of failing by it."""
    server = tf.train.Server.create_local_server()
    host, _, port = server.target.removeprefix("grpc://").rpartition(":")
    busy = threading.Event()
    with socket.create_server(("localhost", 0)) as listener:

        def accept() -> None:
            busy.wait()
            client, _ = listener.accept()
            with client, socket.create_connection((host, int(port))) as behind:
                back = threading.Thread(target=_pass_on, args=[behind, client])
                back.start()
                _pass_on(client, behind)
                back.join()

        serving = threading.Thread(target=accept)
        serving.start()
        free = threading.Timer(0.3, busy.set)  # three times as long as gRPC waits at least
        free.start()
        channel = GrpcChannel(f"localhost:{listener.getsockname()[1]}")
        try:
            assert [device.kind for device in channel.call(m.GetStatus()).devices] == ["CPU"]
        finally:
            channel.close()
            free.join()
            serving.join()


class _CutsOff(grpc.GenericRpcHandler):
    """Resets the stream of each call, as a server may do to those that it has when it is stopped."""

    def service(self, handler_call_details: Any) -> Any:
        def cut_off(request: bytes, context: Any) -> bytes:
            context.cancel()
            return b""

        return grpc.unary_unary_rpc_method_handler(cut_off)


def test_a_call_that_a_server_cuts_off_has_lost_its_server() -> None:
    """It is not cancelled: nobody here did that, and whoever tries again when a server has gone is to do so now."""
    with ThreadPoolExecutor(1) as threads:
        server = grpc.server(threads)
        server.add_generic_rpc_handlers((_CutsOff(),))
        port = server.add_insecure_port("localhost:0")
        server.start()
        channel = GrpcChannel(f"localhost:{port}", "/job:ps/task:0")
        try:
            with pytest.raises(tf.errors.UnavailableError, match=r"/job:ps/task:0 .*it has cut the call off"):
                channel.call(m.GetStatus())
            answered: Future[Any] = Future()
            channel.start(m.GetStatus(), lambda _, error: answered.set_result(error))
            assert isinstance(answered.result(60), tf.errors.UnavailableError)
        finally:
            channel.close()
            server.stop(None).wait()
