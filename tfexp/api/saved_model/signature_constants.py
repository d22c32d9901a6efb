"""`tf.saved_model.signature_constants`: the names in signatures."""

from tfexp.train.saved_model_names import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from tfexp.train.saved_model_names import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from tfexp.train.saved_model_names import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from tfexp.train.saved_model_names import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfexp.train.saved_model_names import PREDICT_INPUTS as PREDICT_INPUTS
from tfexp.train.saved_model_names import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from tfexp.train.saved_model_names import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from tfexp.train.saved_model_names import REGRESS_INPUTS as REGRESS_INPUTS
from tfexp.train.saved_model_names import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from tfexp.train.saved_model_names import REGRESS_OUTPUTS as REGRESS_OUTPUTS
