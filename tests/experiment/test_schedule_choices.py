"""The config group `schedule`: each rate is what its formula says, at every step."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import tfexp as tf
from tfexp.experiment import schedules
from tfexp.experiment.schedules import Schedule

START = 0.8


def _cosine(part: float) -> float:
    return (1 + math.cos(math.pi * min(part, 1.0))) / 2


def _restarts(step: int) -> float:
    """Stretches of 4, 8, 16… steps, each beginning at half of the one before, none below a tenth."""
    begin, length, height = 0, 4, 1.0
    while step >= begin + length:
        begin, length, height = begin + length, 2 * length, height / 2
    return START * (0.9 * height * _cosine((step - begin) / length) + 0.1)


CASES: list[tuple[Schedule, Callable[[int], float]]] = [
    (schedules.Constant(), lambda step: START),
    (schedules.Exponential(decay_steps=4, decay_rate=0.5, staircase=False), lambda step: START * 0.5 ** (step / 4)),
    (schedules.Exponential(decay_steps=4, decay_rate=0.5, staircase=True), lambda step: START * 0.5 ** (step // 4)),
    (
        schedules.Piecewise(boundaries=(3, 7), factors=(1.0, 0.5, 0.1)),
        lambda step: START * (1.0 if step <= 3 else 0.5 if step <= 7 else 0.1),  # a boundary's own step has the earlier rate
    ),
    (
        schedules.Polynomial(decay_steps=8, end_factor=0.25, power=2.0, cycle=False),
        lambda step: START * (0.25 + 0.75 * (1 - min(step, 8) / 8) ** 2),
    ),
    (
        schedules.Polynomial(decay_steps=8, end_factor=0.25, power=1.0, cycle=True),
        lambda step: START * (0.25 + 0.75 * (1 - step / (8 * max(1, math.ceil(step / 8))))),
    ),
    (schedules.NaturalExp(decay_steps=4, decay_rate=0.5, staircase=False), lambda step: START * math.exp(-0.5 * step / 4)),
    (schedules.NaturalExp(decay_steps=4, decay_rate=0.5, staircase=True), lambda step: START * math.exp(-0.5 * (step // 4))),
    (schedules.InverseTime(decay_steps=4, decay_rate=0.5, staircase=False), lambda step: START / (1 + 0.5 * step / 4)),
    (schedules.InverseTime(decay_steps=4, decay_rate=0.5, staircase=True), lambda step: START / (1 + 0.5 * (step // 4))),
    (schedules.Cosine(decay_steps=8, end_factor=0.1), lambda step: START * (0.9 * _cosine(step / 8) + 0.1)),
    (schedules.CosineRestarts(first_steps=4, longer=2.0, lower=0.5, end_factor=0.1), _restarts),
]


def test_every_schedule_is_here() -> None:
    named = {getattr(schedules, name) for name in schedules.__all__} - {Schedule}
    assert {type(schedule) for schedule, _ in CASES} == named


@pytest.mark.parametrize(("schedule", "expected"), CASES, ids=lambda case: type(case).__name__)
def test_rate_is_its_formula(schedule: Schedule, expected: Callable[[int], float]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        rate = tf.convert_to_tensor(schedule.rate(START, step))
        found = [float(session.run(rate, {step: number})) for number in range(14)]
    assert found == pytest.approx([expected(number) for number in range(14)], rel=1e-4)
