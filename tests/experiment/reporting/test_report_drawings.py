"""Drawing of reports: axes and thinned curves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfexp.experiment.reporting.scale import Scale, digits, spans_decades
from tfexp.experiment.reporting.thin import thin

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=300), st.integers(4, 50))
@settings(max_examples=60, deadline=None)
def test_thinned_curves_keep_their_ends_and_extremes(values: list[float], most: int) -> None:
    kept = thin(values, most)
    assert kept == sorted(set(kept))
    assert len(kept) <= max(most, 1)
    assert (kept[0], kept[-1]) == (0, len(values) - 1)
    assert {min(values), max(values)} <= {values[place] for place in kept}
    if len(values) <= most:
        assert kept == list(range(len(values)))


@given(st.lists(NUMBERS, min_size=1, max_size=9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_ticks_are_round_values_on_the_axis(values: list[float], log: bool) -> None:
    values = [abs(value) + 1e-3 for value in values] if log else values
    scale = Scale.over(values, 200.0, 0.0, log, 0.04)
    assert all(-1e-6 <= scale.place(value) <= 200 + 1e-6 for value in values)
    ticks = scale.ticks()
    assert 0 < len(ticks) <= 12
    assert ticks == sorted(ticks)
    assert all(-1e-3 <= scale.place(tick) <= 200 + 1e-3 for tick in ticks)


@pytest.mark.parametrize(
    ("values", "log", "ticks"),
    [
        ([0, 300], False, [0, 100, 200, 300]),
        ([0.07, 0.95], False, [0.2, 0.4, 0.6, 0.8]),
        ([0.1, 100], True, [0.1, 0.5, 2, 10, 50]),
        ([1e-6, 1e3], True, [1e-6, 1e-4, 1e-2, 1, 100]),
        ([2, 3], True, [2.0, 2.2, 2.4, 2.6, 2.8, 3.0]),
        ([5, 5], False, [3, 4, 5, 6, 7]),
    ],
)
def test_some_axes(values: list[float], log: bool, ticks: list[float]) -> None:
    assert Scale.over(values, 0, 1, log).ticks() == pytest.approx(ticks)


def test_numbers_of_ticks() -> None:
    assert [digits(value) for value in (0, 0.25, 1000, 1e-5, 2.5e-7, 3e6, 1234.5)] == [
        "0", "0.25", "1000", "1e-5", "2.5e-7", "3e6", "1234",
    ]  # fmt: skip
    assert spans_decades([0.1, 10])
    assert not spans_decades([1, 10])
    assert not spans_decades([0, 10])
    assert not spans_decades([])
