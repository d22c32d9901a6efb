"""`tf.keras.callbacks`."""

from tfexp.core.gone import missing_from
from tfexp.keras.callbacks.callback import Callback as Callback
from tfexp.keras.callbacks.callback import LambdaCallback as LambdaCallback
from tfexp.keras.callbacks.checkpoint import ModelCheckpoint as ModelCheckpoint
from tfexp.keras.callbacks.history import BaseLogger as BaseLogger
from tfexp.keras.callbacks.history import CSVLogger as CSVLogger
from tfexp.keras.callbacks.history import History as History
from tfexp.keras.callbacks.history import RemoteMonitor as RemoteMonitor
from tfexp.keras.callbacks.learning_rate import LearningRateScheduler as LearningRateScheduler
from tfexp.keras.callbacks.learning_rate import ReduceLROnPlateau as ReduceLROnPlateau
from tfexp.keras.callbacks.progress import ProgbarLogger as ProgbarLogger
from tfexp.keras.callbacks.stopping import EarlyStopping as EarlyStopping
from tfexp.keras.callbacks.stopping import TerminateOnNaN as TerminateOnNaN
from tfexp.keras.callbacks.tensorboard import TensorBoard as TensorBoard

__getattr__ = missing_from("tf.keras.callbacks")
