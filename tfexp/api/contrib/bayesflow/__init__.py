"""`tf.contrib.bayesflow`: Monte Carlo estimates."""

from tfexp.api.contrib.bayesflow import monte_carlo as monte_carlo
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.bayesflow")
