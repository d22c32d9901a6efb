"""`tf.keras.constraints`: what weights are projected onto."""

from tfexp.core.gone import missing_from
from tfexp.keras.constraints import Constraint as Constraint
from tfexp.keras.constraints import MaxNorm as MaxNorm
from tfexp.keras.constraints import MinMaxNorm as MinMaxNorm
from tfexp.keras.constraints import NonNeg as NonNeg
from tfexp.keras.constraints import RadialConstraint as RadialConstraint
from tfexp.keras.constraints import UnitNorm as UnitNorm
from tfexp.keras.constraints import deserialize as deserialize
from tfexp.keras.constraints import get as get
from tfexp.keras.constraints import max_norm as max_norm
from tfexp.keras.constraints import min_max_norm as min_max_norm
from tfexp.keras.constraints import non_neg as non_neg
from tfexp.keras.constraints import radial_constraint as radial_constraint
from tfexp.keras.constraints import serialize as serialize
from tfexp.keras.constraints import unit_norm as unit_norm

__getattr__ = missing_from("tf.keras.constraints")
