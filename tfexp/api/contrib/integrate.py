"""`tf.contrib.integrate`: differential equations."""

from tfexp.contributed.integrate import odeint as odeint
from tfexp.contributed.integrate import odeint_fixed as odeint_fixed
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.integrate")
