"""`tf.keras.optimizers`."""

from tfexp.api.keras.optimizers import schedules as schedules
from tfexp.core.gone import missing_from
from tfexp.keras.optimizers import SGD as SGD
from tfexp.keras.optimizers import Adadelta as Adadelta
from tfexp.keras.optimizers import Adagrad as Adagrad
from tfexp.keras.optimizers import Adam as Adam
from tfexp.keras.optimizers import Adamax as Adamax
from tfexp.keras.optimizers import Ftrl as Ftrl
from tfexp.keras.optimizers import Nadam as Nadam
from tfexp.keras.optimizers import Optimizer as Optimizer
from tfexp.keras.optimizers import RMSprop as RMSprop
from tfexp.keras.optimizers import deserialize as deserialize
from tfexp.keras.optimizers import get as get
from tfexp.keras.optimizers import serialize as serialize

__getattr__ = missing_from("tf.keras.optimizers")
