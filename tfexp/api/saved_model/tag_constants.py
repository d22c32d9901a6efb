"""`tf.saved_model.tag_constants`: the tags of a model's graphs."""

from tfexp.train.saved_model_names import EVAL as EVAL
from tfexp.train.saved_model_names import GPU as GPU
from tfexp.train.saved_model_names import SERVING as SERVING
from tfexp.train.saved_model_names import TPU as TPU
from tfexp.train.saved_model_names import TRAINING as TRAINING
