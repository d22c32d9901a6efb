"""`tf.contrib.solvers.linear_equations`: square systems."""

from tfexp.contributed.solvers import ConjugateGradientState as ConjugateGradientState
from tfexp.contributed.solvers import conjugate_gradient as conjugate_gradient
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.solvers.linear_equations")
