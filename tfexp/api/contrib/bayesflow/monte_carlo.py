"""`tf.contrib.bayesflow.monte_carlo`: re-exports."""

from tfexp.contributed.monte_carlo import expectation as expectation
from tfexp.contributed.monte_carlo import expectation_importance_sampler as expectation_importance_sampler
from tfexp.contributed.monte_carlo import expectation_importance_sampler_logspace as expectation_importance_sampler_logspace
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.bayesflow.monte_carlo")
