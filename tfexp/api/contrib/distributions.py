"""`tf.contrib.distributions`: those of `tf.distributions`, and multivariate normal ones."""

from tfexp.core.gone import missing_from
from tfexp.distributions.discrete import Bernoulli as Bernoulli
from tfexp.distributions.discrete import Categorical as Categorical
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from tfexp.distributions.distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from tfexp.distributions.distribution import Distribution as Distribution
from tfexp.distributions.distribution import ReparameterizationType as ReparameterizationType
from tfexp.distributions.gamma import Exponential as Exponential
from tfexp.distributions.gamma import Gamma as Gamma
from tfexp.distributions.kullback_leibler import RegisterKL as RegisterKL
from tfexp.distributions.kullback_leibler import kl_divergence as kl_divergence
from tfexp.distributions.location_scale import Laplace as Laplace
from tfexp.distributions.location_scale import StudentT as StudentT
from tfexp.distributions.multivariate_normal import MultivariateNormalDiag as MultivariateNormalDiag
from tfexp.distributions.multivariate_normal import (
    MultivariateNormalDiagWithSoftplusScale as MultivariateNormalDiagWithSoftplusScale,
)
from tfexp.distributions.multivariate_normal import MultivariateNormalFullCovariance as MultivariateNormalFullCovariance
from tfexp.distributions.multivariate_normal import MultivariateNormalTriL as MultivariateNormalTriL
from tfexp.distributions.normal import Normal as Normal
from tfexp.distributions.normal import NormalWithSoftplusScale as NormalWithSoftplusScale
from tfexp.distributions.positive_parameters import BetaWithSoftplusConcentration as BetaWithSoftplusConcentration
from tfexp.distributions.positive_parameters import ExponentialWithSoftplusRate as ExponentialWithSoftplusRate
from tfexp.distributions.positive_parameters import GammaWithSoftplusConcentrationRate as GammaWithSoftplusConcentrationRate
from tfexp.distributions.positive_parameters import LaplaceWithSoftplusScale as LaplaceWithSoftplusScale
from tfexp.distributions.positive_parameters import StudentTWithAbsDfSoftplusScale as StudentTWithAbsDfSoftplusScale
from tfexp.distributions.simplex import Beta as Beta
from tfexp.distributions.simplex import Dirichlet as Dirichlet
from tfexp.distributions.simplex import DirichletMultinomial as DirichletMultinomial
from tfexp.distributions.simplex import Multinomial as Multinomial
from tfexp.distributions.uniform import Uniform as Uniform

__getattr__ = missing_from("tf.contrib.distributions")
