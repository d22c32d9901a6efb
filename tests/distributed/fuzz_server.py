"""A server in a process of its own whose memory has a limit: `python -m tests.distributed.fuzz_server`.

It says its target, serves until its input ends, and then says the most memory that it had, in MiB.
"""

from __future__ import annotations

import os
import resource
import sys

import tfexp as tf

# Address space: most of it is stacks and reserves that are never touched.
LIMIT = 3 << 30
MESSAGE_LIMIT = 32 << 20


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    os.environ["TFEXP_MAX_MESSAGE_BYTES"] = str(MESSAGE_LIMIT)
    server = tf.train.Server.create_local_server()
    print(server.target, flush=True)
    sys.stdin.read()
    server.stop()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, flush=True)


if __name__ == "__main__":
    main()
