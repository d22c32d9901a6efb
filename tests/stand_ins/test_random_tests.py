"""Statistics of samples: small for what they are of, large for what they are not."""

import numpy as np

from tfexp.stand_ins import random_tests

RANDOM = np.random.default_rng(7)


class Standard:
    """The moments of the standard normal distribution."""

    @staticmethod
    def moment(order):
        return float(np.prod(np.arange(order - 1, 0, -2))) if order % 2 == 0 else 0.0


def test_statistics_tell_distributions_apart():
    normal, uniform = RANDOM.normal(size=2000), RANDOM.uniform(size=2000)
    assert max(random_tests.test_moment_matching(normal, 4, Standard)) < 4
    assert max(random_tests.test_moment_matching(normal + 1, 4, Standard, stride=2)) > 10
    assert random_tests.anderson_darling(normal) < 5 < random_tests.anderson_darling(uniform)
    assert random_tests.chi_squared(uniform, 10) < 30 < random_tests.chi_squared(uniform**2, 10)
    assert abs(random_tests.normal_cdf(1.96) - 0.975) < 1e-4


def test_truncated_normal_samples():
    kept = RANDOM.normal(size=21000)
    kept = kept[np.abs(kept) <= 2][:20000]

    def equal(a, b):
        assert a == b

    random_tests.test_truncated_normal(equal, np.testing.assert_allclose, len(kept), kept, 0.05, 0.05, 0.05)
