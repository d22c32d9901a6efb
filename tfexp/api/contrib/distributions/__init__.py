"""`tf.contrib.distributions`: those of `tf.distributions`, others, their bijectors, and what they are made of."""

from tfexp.api.contrib.distributions import bijectors as bijectors
from tfexp.core.gone import missing_from
from tfexp.distributions.auto_correlation import auto_correlation as auto_correlation
from tfexp.distributions.autoregressive import Autoregressive as Autoregressive
from tfexp.distributions.batch_reshape import BatchReshape as BatchReshape
from tfexp.distributions.bent import Kumaraswamy as Kumaraswamy
from tfexp.distributions.bent import SinhArcsinh as SinhArcsinh
from tfexp.distributions.bent import VectorExponentialDiag as VectorExponentialDiag
from tfexp.distributions.bent import VectorLaplaceDiag as VectorLaplaceDiag
from tfexp.distributions.bent import VectorSinhArcsinhDiag as VectorSinhArcsinhDiag
from tfexp.distributions.counts import Binomial as Binomial
from tfexp.distributions.counts import Geometric as Geometric
from tfexp.distributions.counts import NegativeBinomial as NegativeBinomial
from tfexp.distributions.counts import Poisson as Poisson
from tfexp.distributions.deterministic import Deterministic as Deterministic
from tfexp.distributions.deterministic import VectorDeterministic as VectorDeterministic
from tfexp.distributions.discrete import Bernoulli as Bernoulli
from tfexp.distributions.discrete import Categorical as Categorical
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from tfexp.distributions.distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from tfexp.distributions.distribution import Distribution as Distribution
from tfexp.distributions.distribution import ReparameterizationType as ReparameterizationType
from tfexp.distributions.functions import fill_triangular as fill_triangular
from tfexp.distributions.functions import fill_triangular_inverse as fill_triangular_inverse
from tfexp.distributions.functions import matrix_diag_transform as matrix_diag_transform
from tfexp.distributions.functions import percentile as percentile
from tfexp.distributions.functions import reduce_weighted_logsumexp as reduce_weighted_logsumexp
from tfexp.distributions.functions import softplus_inverse as softplus_inverse
from tfexp.distributions.functions import tridiag as tridiag
from tfexp.distributions.gamma import Chi2 as Chi2
from tfexp.distributions.gamma import Exponential as Exponential
from tfexp.distributions.gamma import Gamma as Gamma
from tfexp.distributions.half_line import HalfNormal as HalfNormal
from tfexp.distributions.half_line import InverseGamma as InverseGamma
from tfexp.distributions.heavy_tails import Cauchy as Cauchy
from tfexp.distributions.heavy_tails import Logistic as Logistic
from tfexp.distributions.independent import Independent as Independent
from tfexp.distributions.kullback_leibler import RegisterKL as RegisterKL
from tfexp.distributions.kullback_leibler import kl_divergence as kl_divergence
from tfexp.distributions.location_scale import Laplace as Laplace
from tfexp.distributions.location_scale import StudentT as StudentT
from tfexp.distributions.mixture import Mixture as Mixture
from tfexp.distributions.mixture import MixtureSameFamily as MixtureSameFamily
from tfexp.distributions.moving_statistics import assign_log_moving_mean_exp as assign_log_moving_mean_exp
from tfexp.distributions.moving_statistics import assign_moving_mean_variance as assign_moving_mean_variance
from tfexp.distributions.moving_statistics import moving_mean_variance as moving_mean_variance
from tfexp.distributions.moving_statistics import (
    normal_conjugates_known_scale_posterior as normal_conjugates_known_scale_posterior,
)
from tfexp.distributions.moving_statistics import (
    normal_conjugates_known_scale_predictive as normal_conjugates_known_scale_predictive,
)
from tfexp.distributions.multivariate_normal import MultivariateNormalDiag as MultivariateNormalDiag
from tfexp.distributions.multivariate_normal import (
    MultivariateNormalDiagPlusLowRank as MultivariateNormalDiagPlusLowRank,
)
from tfexp.distributions.multivariate_normal import (
    MultivariateNormalDiagWithSoftplusScale as MultivariateNormalDiagWithSoftplusScale,
)
from tfexp.distributions.multivariate_normal import MultivariateNormalFullCovariance as MultivariateNormalFullCovariance
from tfexp.distributions.multivariate_normal import MultivariateNormalTriL as MultivariateNormalTriL
from tfexp.distributions.normal import Normal as Normal
from tfexp.distributions.normal import NormalWithSoftplusScale as NormalWithSoftplusScale
from tfexp.distributions.one_hot import ExpRelaxedOneHotCategorical as ExpRelaxedOneHotCategorical
from tfexp.distributions.one_hot import OneHotCategorical as OneHotCategorical
from tfexp.distributions.one_hot import RelaxedBernoulli as RelaxedBernoulli
from tfexp.distributions.one_hot import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from tfexp.distributions.positive_parameters import BetaWithSoftplusConcentration as BetaWithSoftplusConcentration
from tfexp.distributions.positive_parameters import Chi2WithAbsDf as Chi2WithAbsDf
from tfexp.distributions.positive_parameters import ExponentialWithSoftplusRate as ExponentialWithSoftplusRate
from tfexp.distributions.positive_parameters import GammaWithSoftplusConcentrationRate as GammaWithSoftplusConcentrationRate
from tfexp.distributions.positive_parameters import (
    InverseGammaWithSoftplusConcentrationRate as InverseGammaWithSoftplusConcentrationRate,
)
from tfexp.distributions.positive_parameters import LaplaceWithSoftplusScale as LaplaceWithSoftplusScale
from tfexp.distributions.positive_parameters import StudentTWithAbsDfSoftplusScale as StudentTWithAbsDfSoftplusScale
from tfexp.distributions.quantized import QuantizedDistribution as QuantizedDistribution
from tfexp.distributions.seeds import SeedStream as SeedStream
from tfexp.distributions.simplex import Beta as Beta
from tfexp.distributions.simplex import Dirichlet as Dirichlet
from tfexp.distributions.simplex import DirichletMultinomial as DirichletMultinomial
from tfexp.distributions.simplex import Multinomial as Multinomial
from tfexp.distributions.transformed import TransformedDistribution as TransformedDistribution
from tfexp.distributions.uniform import Uniform as Uniform
from tfexp.distributions.wishart import WishartCholesky as WishartCholesky
from tfexp.distributions.wishart import WishartFull as WishartFull

__getattr__ = missing_from("tf.contrib.distributions")
