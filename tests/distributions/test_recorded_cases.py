"""Distributions of `tf.contrib` against what TensorFlow Probability answered, and their samples against their moments."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tests.distributions.recorded_cases import CASES, RECORDED, answers, shapes

d = tf.contrib.distributions
EXPECTED = json.loads(RECORDED.read_text())


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_recorded(name: str, session: tf.Session) -> None:
    found = answers(CASES[name], d)
    expected = dict(EXPECTED[name])
    assert shapes(CASES[name], d) == expected.pop("shapes")
    values = session.run(found)
    assert values.keys() == expected.keys()
    for question, wanted in expected.items():
        np.testing.assert_allclose(values[question], wanted, rtol=2e-6, atol=1e-9, err_msg=question)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "variance" in case.of_itself])
def test_samples_have_their_moments(name: str, session: tf.Session) -> None:
    one = CASES[name].make(d)
    sample = one.sample([3, 3000], seed=5)
    assert sample.shape.as_list() == [3, 3000, *one.batch_shape.as_list(), *one.event_shape.as_list()]
    drawn = session.run(sample).reshape(9000, *sample.shape.as_list()[2:]).astype(float)
    mean, variance = (np.array(EXPECTED[name][moment]) for moment in ("mean", "variance"))
    mean, variance = (np.broadcast_to(x, drawn.shape[1:]) for x in (mean, variance))
    np.testing.assert_allclose(drawn.mean(0), mean, atol=float(5 * np.sqrt(variance.max() / 9000)))
    known = np.isfinite(variance)
    np.testing.assert_allclose(drawn.var(0)[known], variance[known], rtol=0.9 if name == "inverse gamma" else 0.15)


@pytest.mark.parametrize("name", CASES)
def test_shapes_of_unknown_batches(name: str, session: tf.Session) -> None:
    one = CASES[name].make(d)
    found = session.run([one.batch_shape_tensor(), one.event_shape_tensor()])
    assert [list(dims) for dims in found] == EXPECTED[name]["shapes"]
