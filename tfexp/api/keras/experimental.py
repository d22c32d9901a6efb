"""`tf.keras.experimental`: what was not settled in 1.15."""

from tfexp.core.gone import namespace
from tfexp.keras.layers.recurrent_lstm import PeepholeLSTMCell as PeepholeLSTMCell
from tfexp.keras.optimizers.schedules import CosineDecay as CosineDecay
from tfexp.keras.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from tfexp.keras.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from tfexp.keras.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
from tfexp.keras.premade.linear import LinearModel as LinearModel
from tfexp.keras.premade.wide_deep import WideDeepModel as WideDeepModel
from tfexp.keras.saving.saved_model import export_saved_model as export_saved_model
from tfexp.keras.saving.saved_model import load_from_saved_model as load_from_saved_model
from tfexp.keras.utils.data import terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools

# It stands above Keras, with the columns that it takes.
__getattr__, __dir__ = namespace(
    "tf.keras.experimental", __name__, {"SequenceFeatures": "tfexp.feature_column.sequence_features:SequenceFeatures"}
)
