"""`tf.contrib.solvers.least_squares`: systems with more equations than unknowns."""

from tfexp.contributed.solvers import LeastSquaresState as LeastSquaresState
from tfexp.contributed.solvers import cgls as cgls
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.solvers.least_squares")
