"""Distributions and what TensorFlow Probability 0.23 answers of them; run as a program, this records it.

It has the classes that `tf.contrib.distributions` had.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RECORDED = Path(__file__).with_suffix(".json")
OF_ITSELF = ("mean", "variance", "stddev", "mode", "entropy")


class Case(NamedTuple):
    make: Callable[[Any], Any]  # of the module that has the classes
    values: Any
    of_values: tuple[str, ...] = ("log_prob", "prob")
    of_itself: tuple[str, ...] = OF_ITSELF
    other: Callable[[Any], Any] | None = None  # for the divergence from it


A = np.array
MOMENTS = ("mean", "variance", "stddev")
ALL = ("log_prob", "prob", "cdf", "log_cdf", "survival_function")
LOGITS = A([[0.1, 0.5, -1.0], [2.0, 0.0, 0.3]])
ROWS = A([[0.2, 0.3, 0.5], [0.1, 0.7, 0.2]])

CASES: Mapping[str, Case] = {
    "cauchy": Case(lambda d: d.Cauchy(A([0.5, -1.0]), A([[2.0], [0.3], [1.0]])), A([0.7, -3.0]), ALL, ("mode", "entropy")),
    "logistic": Case(lambda d: d.Logistic(A([0.5, -1.0]), A([[2.0], [0.3], [1.0]])), A([0.7, -30.0]), ALL),
    "half normal": Case(
        lambda d: d.HalfNormal(A([0.5, 2.0])), A([[0.7, 3.0], [0.1, 0.2]]), ALL, other=lambda d: d.HalfNormal(A([1.5, 0.2]))
    ),
    "inverse gamma": Case(lambda d: d.InverseGamma(A([3.5, 2.5]), A([[0.5], [2.0], [7.0]])), A([0.7, 3.0]), ALL),
    "chi2": Case(lambda d: d.Chi2(A([3.0, 5.5])), A([[0.7, 3.0], [11.0, 0.1]]), ALL, other=lambda d: d.Chi2(A([4.0, 1.5]))),
    "poisson": Case(lambda d: d.Poisson(A([[0.5], [3.7], [12.2]])), A([0.0, 4.0]), ALL, (*MOMENTS, "mode")),
    "poisson of log": Case(lambda d: d.Poisson(log_rate=A([0.5, 2.0])), A([1.0, 9.0]), ALL, (*MOMENTS, "mode")),
    "geometric": Case(lambda d: d.Geometric(probs=A([[0.5], [0.2], [0.9]])), A([0.0, 4.0]), ALL),
    "geometric of logits": Case(lambda d: d.Geometric(logits=A([0.5, -2.0])), A([1.0, 7.0]), ALL),
    "binomial": Case(
        lambda d: d.Binomial(A([5.0, 11.0]), probs=A([[0.5], [0.2], [0.9]])),
        A([0.0, 11.0 - 6.0]),
        of_itself=(*MOMENTS, "mode"),
    ),
    "negative binomial": Case(
        lambda d: d.NegativeBinomial(A([5.0, 1.5]), probs=A([[0.5], [0.2], [0.9]])),
        A([0.0, 4.0]),
        ALL[:3],
        (*MOMENTS, "mode"),
    ),
    "deterministic": Case(
        lambda d: d.Deterministic(A([0.5, 2.0]), atol=0.1), A([[0.55, 2.0], [0.7, 1.0]]), ("log_prob", "prob", "cdf")
    ),
    "vector deterministic": Case(
        lambda d: d.VectorDeterministic(LOGITS, rtol=0.1), LOGITS[0] + 0.01, of_itself=("mean", "mode")
    ),
    "one-hot": Case(
        lambda d: d.OneHotCategorical(logits=LOGITS),
        A([[0, 1, 0], [1, 0, 0]]),
        of_itself=(*OF_ITSELF, "covariance"),
        other=lambda d: d.OneHotCategorical(probs=ROWS),
    ),
    "log of relaxed one-hot": Case(
        lambda d: d.ExpRelaxedOneHotCategorical(A([0.7, 2.0]), logits=LOGITS), np.log(ROWS), of_itself=()
    ),
    "relaxed one-hot": Case(lambda d: d.RelaxedOneHotCategorical(np.float64(0.7), probs=ROWS), ROWS, of_itself=()),
    "relaxed bernoulli": Case(
        lambda d: d.RelaxedBernoulli(A([[0.7], [2.0], [0.1]]), logits=A([0.5, -1.0])), A([0.2, 0.9]), ("log_prob", "cdf"), ()
    ),
    "independent": Case(
        lambda d: d.Independent(d.Normal(LOGITS, A([0.5, 1.0, 2.0])), 1),
        LOGITS + 0.5,
        of_itself=(*MOMENTS, "mode", "entropy"),
        other=lambda d: d.Independent(d.Normal(ROWS, 1.5), 1),
    ),
    "mixture": Case(
        lambda d: d.Mixture(
            d.Categorical(probs=ROWS),
            [
                d.Normal(A([-1.0, 0.5]), A([0.5, 1.0])),
                d.Normal(A([2.0, 0.0]), 1.5 * np.ones(2)),
                d.Cauchy(A([0.0, 1.0]), A([1.0, 2.0])),
            ],
        ),
        A([[0.3, -2.0], [0.1, 5.0]]),
        of_itself=(),
    ),
    "mixture of vectors": Case(
        lambda d: d.Mixture(
            d.Categorical(logits=A([0.3, -0.2])),
            [d.MultivariateNormalDiag(LOGITS[0], ROWS[0]), d.MultivariateNormalDiag(LOGITS[1], ROWS[1])],
        ),
        ROWS,
        of_itself=("mean", "stddev"),
    ),
    "mixture of a family": Case(
        lambda d: d.MixtureSameFamily(d.Categorical(logits=LOGITS[0]), d.Normal(LOGITS, ROWS)),
        A([[0.3, -2.0], [0.1, 5.0], [7.0, 1.0]]),
        ("log_prob", "prob", "cdf"),
        MOMENTS,
    ),
    "mixture of a family of vectors": Case(
        lambda d: d.MixtureSameFamily(d.Categorical(probs=A([0.4, 0.6])), d.MultivariateNormalDiag(LOGITS, ROWS)),
        ROWS,
        of_itself=MOMENTS,
    ),
}


def answers(case: Case, module: Any) -> dict[str, Any]:
    """What the distribution says, and its shapes."""
    one = case.make(module)
    found = {question: getattr(one, question)(case.values) for question in case.of_values}
    found |= {question: getattr(one, question)() for question in case.of_itself}
    if case.other is not None:
        found["kl_divergence"] = one.kl_divergence(case.other(module))
    return found


def shapes(case: Case, module: Any) -> list[list[int]]:
    one = case.make(module)
    return [one.batch_shape.as_list(), one.event_shape.as_list()]


def main() -> None:
    import tensorflow_probability

    module = tensorflow_probability.distributions
    recorded = {
        name: {"shapes": shapes(case, module), **{q: np.asarray(v).tolist() for q, v in answers(case, module).items()}}
        for name, case in CASES.items()
    }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in recorded.items())
    RECORDED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
