"""Records the golden graphs with real TensorFlow: `python -m tests.golden.record_graphs [GROUP ...]`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`). Without
arguments it records every group, else those named. What is left out of the graphs, and why, stands in
`tests/golden/capture.py`.
"""

from __future__ import annotations

import sys
import traceback

from tests.golden import capture, oracle
from tests.golden.programs import PROGRAMS


def main(wanted: list[str]) -> int:
    """Records the groups named in `wanted` (all without); returns the number of programs that failed."""
    tf = oracle.tensorflow()
    groups = sorted({name.partition(".")[0] for name in wanted or PROGRAMS})
    failed = 0
    for group in groups:
        captures = []
        for program in (program for program in PROGRAMS.values() if program.group == group):
            try:
                captures.append(capture.take(program, tf))
            except Exception:
                failed += 1
                print(f"{program.full_name} failed:", file=sys.stderr)
                traceback.print_exc()
        size = capture.store(group, captures)
        nodes = sum(len(taken["nodes"]) for taken in captures)
        print(f"{group}: {len(captures)} programs, {nodes} nodes, {size} bytes")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
