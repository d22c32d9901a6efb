"""What all pictures have in common."""

from __future__ import annotations

from tfexp.experiment.reporting.figures import along_steps, dashes, new_figure


def test_no_tick_is_between_two_steps() -> None:
    axes = new_figure(9.6, 5.2).subplots()
    axes.plot([0, 20], [0.7, 0.3])
    assert 2.5 in axes.get_xticks()
    along_steps(axes)
    ticks = axes.get_xticks()
    assert len(ticks) > 2
    assert all(tick == int(tick) for tick in ticks)


def test_lines_that_coincide_have_dashes_in_turn() -> None:
    one, other = [(0.0, 5.0), (10.0, 1.0), (20.0, 0.5)], [(0.0, 5.0), (10.0, 3.0)]
    assert dashes([one, other]) == ["-", "-"]
    assert dashes([one, other, one[:2], [(0.0, 5.0), (10.0, 1.008)]]) == [
        (0.0, (4.0, 8.0)), "-", (-4.0, (4.0, 8.0)), (-8.0, (4.0, 8.0)),
    ]  # fmt: skip
    assert dashes([one, [(0.0, 5.0), (15.0, 4.0)]]) == ["-", "-"], "they only begin at the same point"
    assert dashes([one, [(5.0, 2.0)]]) == ["-", "-"], "they have no step in common"
    assert dashes([]) == []
