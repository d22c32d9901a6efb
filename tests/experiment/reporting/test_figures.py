"""What all pictures have in common."""

from __future__ import annotations

from tfexp.experiment.reporting.figures import along_steps, new_figure


def test_no_tick_is_between_two_steps() -> None:
    axes = new_figure(9.6, 5.2).subplots()
    axes.plot([0, 20], [0.7, 0.3])
    assert 2.5 in axes.get_xticks()
    along_steps(axes)
    ticks = axes.get_xticks()
    assert len(ticks) > 2
    assert all(tick == int(tick) for tick in ticks)
