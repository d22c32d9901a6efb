"""Samples of several runs at once: those that each run draws by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tfexp.ops import candidate_draws
from tfexp.ops.candidate_draws import ComingRuns, Draw, Drawn, expected_count, sample
from tfexp.ops.philox import Philox, PhiloxState, Words

SAMPLED, RUNS, LIMIT = 7, 13, 8


def all_count(words: Words) -> Drawn:
    return Drawn((words[..., 0::2] % LIMIT).astype(np.int64))


def some_count(words: Words) -> Drawn:
    numbers = words[..., 0::2]
    return Drawn((numbers % LIMIT).astype(np.int64), numbers % 3 > 0)


def by_hand(stream: Philox, unique: bool, draw: Draw) -> tuple[list[int], int]:
    """The classes and the tries, one number after another."""
    drawn, fair = draw(stream.words(4 * 512 * SAMPLED))
    found: list[int] = []
    tries = 0
    for number, counts in zip(drawn.tolist(), [True] * len(drawn) if fair is None else fair.tolist(), strict=True):
        tries += counts
        if counts and not (unique and number in found):
            found.append(number)
        if len(found) == SAMPLED:
            break
    return found, tries


@pytest.mark.parametrize("draw", [all_count, some_count])
@pytest.mark.parametrize("unique", [False, True])
def test_runs_take_what_each_would_take_alone(unique: bool, draw: Draw) -> None:
    stream = Philox.from_seeds(3, 5)
    classes, tries = sample(stream, RUNS, SAMPLED, unique, draw)
    alone = [by_hand(stream.skip(run * 512 * SAMPLED), unique, draw) for run in range(RUNS)]
    assert list(zip(classes.tolist(), tries[:, 0].tolist(), strict=True)) == alone
    if unique:
        assert tries.max() > 2 * SAMPLED  # so for some of them more had to be drawn


@pytest.mark.parametrize("unique", [False, True])
def test_a_node_goes_on_where_its_last_runs_ended(unique: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def runs() -> list[tuple[list[int], int, list[float]]]:
        chance = np.float32(1 / LIMIT)
        coming = ComingRuns(PhiloxState(3, 5), SAMPLED, unique, all_count, lambda c: np.full(c.shape, chance))
        return [(c.tolist(), tries, expected.tolist()) for c, tries, expected in (coming.next() for _ in range(100))]

    together = runs()
    monkeypatch.setattr(candidate_draws, "_MOST_RUNS", 1)
    assert together == runs()
    assert len({tuple(classes) for classes, _, _ in together}) > 90


def test_expected_counts_of_runs_are_those_of_each() -> None:
    chance = np.float32([[0.1, 0.2], [0.3, 0.4]])
    together = expected_count(chance, np.array([[5], [9]]), 5)
    assert together.tolist() == [expected_count(chance[0], 5, 5).tolist(), expected_count(chance[1], 9, 5).tolist()]
    np.testing.assert_allclose(together[1], 1 - (1 - chance[1]) ** 9, rtol=1e-6)
    np.testing.assert_allclose(together[0], 5 * chance[0])
