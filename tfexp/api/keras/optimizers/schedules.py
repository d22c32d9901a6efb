"""`tf.keras.optimizers.schedules`."""

from tfexp.core.gone import missing_from
from tfexp.keras.optimizers.schedules import ExponentialDecay as ExponentialDecay
from tfexp.keras.optimizers.schedules import InverseTimeDecay as InverseTimeDecay
from tfexp.keras.optimizers.schedules import LearningRateSchedule as LearningRateSchedule
from tfexp.keras.optimizers.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from tfexp.keras.optimizers.schedules import PolynomialDecay as PolynomialDecay
from tfexp.keras.optimizers.schedules import deserialize as deserialize
from tfexp.keras.optimizers.schedules import serialize as serialize

__getattr__ = missing_from("tf.keras.optimizers.schedules")
