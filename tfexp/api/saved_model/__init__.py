"""`tf.saved_model`: re-exports."""

from tfexp.api.saved_model import builder as builder
from tfexp.api.saved_model import constants as constants
from tfexp.api.saved_model import loader as loader
from tfexp.api.saved_model import main_op as main_op
from tfexp.api.saved_model import signature_constants as signature_constants
from tfexp.api.saved_model import signature_def_utils as signature_def_utils
from tfexp.api.saved_model import tag_constants as tag_constants
from tfexp.api.saved_model import utils as utils
from tfexp.core.gone import missing_from
from tfexp.train.saved_model_builder import SavedModelBuilder as Builder
from tfexp.train.saved_model_builder import main_op_with_restore as main_op_with_restore
from tfexp.train.saved_model_builder import simple_save as simple_save
from tfexp.train.saved_model_loader import contains_saved_model as contains_saved_model
from tfexp.train.saved_model_loader import load as load
from tfexp.train.saved_model_loader import maybe_saved_model_directory as maybe_saved_model_directory
from tfexp.train.saved_model_names import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from tfexp.train.saved_model_names import ASSETS_KEY as ASSETS_KEY
from tfexp.train.saved_model_names import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from tfexp.train.saved_model_names import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from tfexp.train.saved_model_names import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from tfexp.train.saved_model_names import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfexp.train.saved_model_names import GPU as GPU
from tfexp.train.saved_model_names import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from tfexp.train.saved_model_names import MAIN_OP_KEY as MAIN_OP_KEY
from tfexp.train.saved_model_names import PREDICT_INPUTS as PREDICT_INPUTS
from tfexp.train.saved_model_names import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from tfexp.train.saved_model_names import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from tfexp.train.saved_model_names import REGRESS_INPUTS as REGRESS_INPUTS
from tfexp.train.saved_model_names import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from tfexp.train.saved_model_names import REGRESS_OUTPUTS as REGRESS_OUTPUTS
from tfexp.train.saved_model_names import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from tfexp.train.saved_model_names import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from tfexp.train.saved_model_names import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from tfexp.train.saved_model_names import SERVING as SERVING
from tfexp.train.saved_model_names import TPU as TPU
from tfexp.train.saved_model_names import TRAINING as TRAINING
from tfexp.train.saved_model_names import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from tfexp.train.saved_model_names import VARIABLES_FILENAME as VARIABLES_FILENAME
from tfexp.train.signatures import build_signature_def as build_signature_def
from tfexp.train.signatures import build_tensor_info as build_tensor_info
from tfexp.train.signatures import classification_signature_def as classification_signature_def
from tfexp.train.signatures import get_tensor_from_tensor_info as get_tensor_from_tensor_info
from tfexp.train.signatures import is_valid_signature as is_valid_signature
from tfexp.train.signatures import predict_signature_def as predict_signature_def
from tfexp.train.signatures import regression_signature_def as regression_signature_def

__getattr__ = missing_from("tf.saved_model")
