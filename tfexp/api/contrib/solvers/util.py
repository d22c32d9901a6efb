"""`tf.contrib.solvers.util`: operators and norms."""

from tfexp.contributed.solvers import create_operator as create_operator
from tfexp.contributed.solvers import dot as dot
from tfexp.contributed.solvers import identity_operator as identity_operator
from tfexp.contributed.solvers import l2norm as l2norm
from tfexp.contributed.solvers import l2norm_squared as l2norm_squared
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.solvers.util")
