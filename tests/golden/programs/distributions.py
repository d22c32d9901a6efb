"""`tf.distributions`: samples, densities, moments, divergences."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values


@program("O12: normal distributions")
def normal(tf: Any) -> Outcome:
    d = tf.distributions.Normal(tf.placeholder(tf.float32, [2, 3], name="m"), tf.placeholder(tf.float32, [3], name="s"))
    other = tf.distributions.Normal(0.0, 1.0, name="other")
    x = tf.placeholder(tf.float32, [3], name="x")
    made = [
        *(d.sample(5, seed=1), d.sample([2, 3], seed=2), other.sample(seed=3), d.log_prob(x), d.prob(1.0), d.cdf(x)),
        *(d.entropy(), d.mean(), d.stddev(), d.variance(), d.mode(), d.kl_divergence(other), other.cross_entropy(d)),
        *(d.batch_shape_tensor(), d.event_shape_tensor(), tf.distributions.kl_divergence(other, d)),
    ]
    made += tf.gradients(made[0], [d.loc, d.scale])
    feeds = {"m:0": values("m", 2, 3), "s:0": np.float32([0.5, 1, 2]), "x:0": values("x", 3)}
    graph = tf.get_default_graph()
    told = [str(d.batch_shape), d.event_shape.as_list(), d.name, str(other), d.dtype.name, sorted(d.parameters)]
    told += [str(d.reparameterization_type), d.allow_nan_stats, d.validate_args]
    feeds = {graph.get_tensor_by_name(key): value for key, value in feeds.items()}
    return runs(
        Run(made, feeds, rtol=1e-4), told=told, refused=[raised(lambda: d.covariance()), raised(lambda: d.kl_divergence(3))]
    )


@program("O12: Bernoulli and categorical distributions")
def discrete(tf: Any) -> Outcome:
    x, p = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.float32, [3, 4], name="p")
    b, few = tf.distributions.Bernoulli(logits=x), tf.distributions.Bernoulli(probs=[0.1, 0.2, 0.3], dtype=tf.float32)
    c, one = tf.distributions.Categorical(logits=p), tf.distributions.Categorical(probs=[0.1, 0.2, 0.3, 0.4])
    made = [
        *(b.sample(4, seed=2), few.sample(seed=3), b.log_prob([0, 1, 1]), b.prob(1), b.entropy(), b.mean(), b.mode()),
        *(b.variance(), b.stddev(), b.probs, few.logits, b.kl_divergence(few)),
        *(c.sample(4, seed=2), one.sample([2, 3], seed=3), c.log_prob([0, 1, 1]), c.prob(2), c.entropy(), c.mode(), c.probs),
        *(c.kl_divergence(one), one.cdf(2), c.event_size),
    ]
    refused = [raised(lambda: tf.distributions.Bernoulli()), raised(lambda: tf.distributions.Categorical(logits=p, probs=p))]
    return runs(Run(made, {x: values("l", 3), p: values("p", 3, 4)}), refused=refused)


@program("O12: distributions of positive numbers and intervals")
def positive(tf: Any) -> Outcome:
    a = tf.placeholder(tf.float32, [3], name="a")
    uniform, exponential = tf.distributions.Uniform(a, 9.0), tf.distributions.Exponential(a)
    gamma, beta = tf.distributions.Gamma(a, 2.0), tf.distributions.Beta(a, 2.0)
    made = [d.sample(4, seed=2) for d in (uniform, exponential, gamma, beta)]
    for d in (uniform, exponential, gamma):
        made += [d.prob(1.0), d.log_prob(2.5), d.cdf(1.5), d.entropy(), d.mean(), d.variance(), d.stddev()]
    made += [exponential.mode(), gamma.mode(), gamma.kl_divergence(tf.distributions.Gamma(1.0, 1.0)), uniform.range()]
    made += [beta.log_prob(0.5), beta.mean(), beta.kl_divergence(tf.distributions.Beta(1.0, 3.0))]
    return runs(Run(made, {a: np.float32([1.5, 2, 5])}, rtol=1e-4))


@program("O12: Laplace, Student's t, Dirichlet and multinomial distributions")
def others(tf: Any) -> Outcome:
    a, c = tf.placeholder(tf.float32, [3], name="a"), tf.placeholder(tf.float32, [2, 4], name="c")
    laplace, student = tf.distributions.Laplace(a, 2.0), tf.distributions.StudentT(3.0, a, 2.0)
    dirichlet, counts = tf.distributions.Dirichlet(c), tf.distributions.Multinomial(4.0, c)
    made = [d.sample(4, seed=2) for d in (laplace, student, dirichlet)]
    made += [laplace.log_prob(0.5), laplace.mean(), laplace.cdf(1.0), student.log_prob(0.5)]
    made += [dirichlet.log_prob([0.1, 0.2, 0.3, 0.4]), dirichlet.mean(), counts.log_prob([1.0, 2, 1, 0]), counts.mean()]
    return runs(Run(made, {a: np.float32([1.5, 2, 5]), c: 1 + np.abs(values("c", 2, 4))}, rtol=1e-4))
