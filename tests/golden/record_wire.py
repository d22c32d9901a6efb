"""Records what TensorFlow says on the wire, and what is said to it: `python -m tests.golden.record_wire`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`). Each conversation is
of a client and the worker of a cluster of two tasks, through a proxy: `tensorflow_client` of TensorFlow's session with our
servers, `tensorflow_server` of our session with TensorFlow's.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import tfexp
from tests.distributed.clusters import free_ports
from tests.distributed.recording import BY_PATH, Recording, listening
from tests.distributed.wire_program import converse
from tests.golden import oracle


def _clear_target(recording: Recording) -> None:
    """A session's target is the proxy's address, and nobody's business."""
    for call in recording.calls:
        request = BY_PATH[call.path].request.FromString(call.request)
        if "target" in request.DESCRIPTOR.fields_by_name and request.DESCRIPTOR.name == "CreateSessionRequest":
            request.target = ""
            call.request = request.SerializeToString()


def _tensorflow_client(target: str, cluster: dict[str, list[str]]) -> dict[str, Any]:
    """In a process of its own: some of its calls keep Python's lock while they wait for the server."""
    command = [sys.executable, "-m", "tests.distributed.wire_program", target, json.dumps(cluster)]
    seen: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True).stdout)
    return seen


def _our_client(target: str, cluster: dict[str, list[str]]) -> dict[str, Any]:
    with tfexp.Graph().as_default():
        return converse(tfexp, target, cluster)


def record(name: str, servers: Any, client: Callable[[str, dict[str, list[str]]], dict[str, Any]]) -> None:
    """Store the conversation of a client with servers of the `tf` module `servers`."""
    ports = free_ports(2)
    cluster = {"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"]}
    recording = Recording()
    running = [servers.train.Server(servers.train.ClusterSpec(cluster), job, 0) for job in cluster]
    with contextlib.ExitStack() as stack:
        if servers is tfexp:
            for server in running:
                stack.callback(server.stop)
        address = stack.enter_context(listening(cluster["worker"][0], recording))
        recording.seen = client(f"grpc://{address}", cluster)
    _clear_target(recording)
    print(f"{name}: {len(recording.calls)} calls, {recording.store(name)} bytes", flush=True)


def main() -> None:
    record("tensorflow_client", tfexp, _tensorflow_client)
    record("tensorflow_server", oracle.tensorflow(), _our_client)
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main()
