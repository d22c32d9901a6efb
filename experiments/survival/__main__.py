"""`python -m experiments.survival`: what a killed worker costs the others, and what it costs to know who is alive.

Prints what is measured as it goes on, then the figures. Given at the root of the repository, on a quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import time

from experiments.survival import killed, liveness
from tfexp.distributed.process_host import ProcessHosting

_SAY_EVERY = 50


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.survival", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10, help="how often a worker is killed")
    parser.add_argument("--pace", type=float, default=100.0, help="steps a second of each worker; 0: as many as it can")
    parser.add_argument("--window", type=float, default=2.0, help="seconds of each of two windows before a kill")
    parser.add_argument("--rounds", type=int, default=500, help="with and without checks")
    parser.add_argument("--steps", type=int, default=150, help="of each half of such a round")
    given = parser.parse_args()
    began = time.monotonic()
    lines = []
    if given.kills:
        lines += of_kills(given.kills, given.pace, given.window)
    if given.rounds:
        lines += of_checks(given.rounds, given.steps)
    print("", *lines, f"({time.monotonic() - began:.0f} s in all)", sep="\n")


def of_kills(count: int, pace: float, window: float) -> list[str]:
    rounds = []
    for number, found in enumerate(killed.measure(ProcessHosting, count, pace, window), 1):
        rounds.append(found)
        print(
            f"kill {number} of {count}: the others made {found.first:.1f} and {found.second:.1f} steps/s before, "
            f"{found.without:.1f} while it was gone, for {found.seconds:.1f} s",
            flush=True,
        )
    cost, nothing = ([getattr(found, name) for found in rounds] for name in ("cost", "nothing"))
    return [
        f"a killed worker costs the others {described(cost)} of their steps/s (claim: below 5 %)",
        f"without a kill, one window to the next: {described(nothing)}",
        f"it trained again after {statistics.median(found.seconds for found in rounds):.1f} s (median)",
    ]


def of_checks(count: int, steps: int) -> list[str]:
    costs, bare = [], []
    for number, (checked, unchecked) in enumerate(liveness.measure(count, steps), 1):
        costs.append(checked / unchecked - 1)
        bare.append(unchecked)
        if number % _SAY_EVERY == 0:
            print(f"round {number} of {count}: so far, the checks cost {described(costs)} of a step", flush=True)
    cost = f"{described(costs)} of the CPU of a step of {statistics.median(bare) * 1e6:.0f} µs"
    return [f"liveness checks cost {cost} (claim: below 1 %)"]


def described(parts: list[float]) -> str:
    """The median of the parts in per cent, its standard error (as if they were normal), and the middle half of them."""
    low, middle, high = statistics.quantiles(parts, n=4) if len(parts) > 1 else parts * 3
    error = 0.93 * (high - low) / len(parts) ** 0.5
    return f"{100 * middle:+.2f} ± {100 * error:.2f} % (middle half {100 * low:+.2f} to {100 * high:+.2f} %)"


if __name__ == "__main__":
    main()
