"""Channels over gRPC to peers that are slow."""

from __future__ import annotations

import contextlib
import socket
import threading

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
