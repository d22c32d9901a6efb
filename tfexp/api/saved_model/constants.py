"""`tf.saved_model.constants`: the names of a model's files."""

from tfexp.core.gone import missing_from
from tfexp.train.saved_model_names import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from tfexp.train.saved_model_names import ASSETS_KEY as ASSETS_KEY
from tfexp.train.saved_model_names import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from tfexp.train.saved_model_names import MAIN_OP_KEY as MAIN_OP_KEY
from tfexp.train.saved_model_names import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from tfexp.train.saved_model_names import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from tfexp.train.saved_model_names import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from tfexp.train.saved_model_names import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from tfexp.train.saved_model_names import VARIABLES_FILENAME as VARIABLES_FILENAME

__getattr__ = missing_from("tf.saved_model.constants")
