"""`tf.keras.utils`: what programs need around models."""

from tfexp.core.gone import missing_from
from tfexp.keras.serialization import CustomObjectScope as CustomObjectScope
from tfexp.keras.serialization import custom_object_scope as custom_object_scope
from tfexp.keras.serialization import deserialize_keras_object as deserialize_keras_object
from tfexp.keras.serialization import get_custom_objects as get_custom_objects
from tfexp.keras.serialization import serialize_keras_object as serialize_keras_object
from tfexp.keras.utils.arrays import normalize as normalize
from tfexp.keras.utils.arrays import to_categorical as to_categorical
from tfexp.keras.utils.data import GeneratorEnqueuer as GeneratorEnqueuer
from tfexp.keras.utils.data import OrderedEnqueuer as OrderedEnqueuer
from tfexp.keras.utils.data import Sequence as Sequence
from tfexp.keras.utils.data import SequenceEnqueuer as SequenceEnqueuer
from tfexp.keras.utils.files import get_file as get_file
from tfexp.keras.utils.hdf5_matrix import HDF5Matrix as HDF5Matrix
from tfexp.keras.utils.models import convert_all_kernels_in_model as convert_all_kernels_in_model
from tfexp.keras.utils.models import get_source_inputs as get_source_inputs
from tfexp.keras.utils.models import multi_gpu_model as multi_gpu_model
from tfexp.keras.utils.picture import model_to_dot as model_to_dot
from tfexp.keras.utils.picture import plot_model as plot_model
from tfexp.keras.utils.progbar import Progbar as Progbar

__getattr__ = missing_from("tf.keras.utils")
