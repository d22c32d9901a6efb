"""What the machine itself can do, measured there and then: no program on it can be quicker than this."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Callable

import numpy as np

_ORDER = 1024  # of the matrices
_MEGABYTES = 256
_ROUND_TRIPS = 2000


def limits() -> dict[str, float]:
    """Name with unit -> figure."""
    return {
        "BLAS, float32, GFLOP/s": _blas(),
        "copy in memory, one thread, GB/s": _copy(),
        "loopback, GB/s": _loopback_bandwidth(),
        "loopback, round trip of a byte, µs": _loopback_round_trip(),
    }


def _best(action: Callable[[], object], times: int = 7) -> float:
    """Seconds of the fastest of some."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return min(taken)


def _blas() -> float:
    a = np.ones((_ORDER, _ORDER), np.float32)
    out = np.empty_like(a)
    return 2 * _ORDER**3 / _best(lambda: np.matmul(a, a, out=out)) / 1e9


def _copy() -> float:
    source = np.ones(_MEGABYTES << 20, np.uint8)
    target = np.zeros_like(source)
    return source.nbytes / _best(lambda: np.copyto(target, source)) / 1e9


def _connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    for end in (one, other):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one, other


def _loopback_bandwidth() -> float:
    sender, receiver = _connected()
    block = bytearray(1 << 20)
    total = _MEGABYTES << 20

    def receive() -> None:
        left = total
        while left > 0:
            left -= receiver.recv_into(block)

    with sender, receiver:
        payload = memoryview(bytes(1 << 20))

        def transfer() -> None:
            thread = threading.Thread(target=receive)
            thread.start()
            for _ in range(_MEGABYTES):
                sender.sendall(payload)
            thread.join()

        return total / _best(transfer, 3) / 1e9


def _loopback_round_trip() -> float:
    one, other = _connected()

    def echo() -> None:
        while byte := other.recv(1):
            other.sendall(byte)

    thread = threading.Thread(target=echo)
    thread.start()
    times = []
    with other:
        with one:
            for _ in range(_ROUND_TRIPS):
                began = time.perf_counter()
                one.sendall(b"x")
                one.recv(1)
                times.append(time.perf_counter() - began)
        thread.join()
    return statistics.median(times) * 1e6
