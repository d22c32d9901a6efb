"""`tf.contrib.slim`: the functions of `tf.contrib.layers` and `tf.contrib.framework` under one name."""

from tfexp.api.contrib import layers as layers
from tfexp.api.contrib import losses as losses
from tfexp.api.contrib import metrics as metrics
from tfexp.api.contrib.layers import *  # noqa: F403
from tfexp.api.contrib.slim import evaluation as evaluation
from tfexp.api.contrib.slim import learning as learning
from tfexp.api.contrib.slim import model_analyzer as model_analyzer
from tfexp.api.contrib.slim import nets as nets
from tfexp.contributed import layer_utilities as utils
from tfexp.contributed import slim_summaries as summaries
from tfexp.contributed.arg_scope import add_arg_scope as add_arg_scope
from tfexp.contributed.arg_scope import arg_scope as arg_scope
from tfexp.contributed.arg_scope import arg_scope_func_key as arg_scope_func_key
from tfexp.contributed.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from tfexp.contributed.arg_scope import current_arg_scope as current_arg_scope
from tfexp.contributed.arg_scope import has_arg_scope as has_arg_scope
from tfexp.contributed.slim_data import data_decoder as data_decoder
from tfexp.contributed.slim_data import data_provider as data_provider
from tfexp.contributed.slim_data import dataset as dataset
from tfexp.contributed.slim_data import dataset_data_provider as dataset_data_provider
from tfexp.contributed.slim_data import parallel_reader as parallel_reader
from tfexp.contributed.slim_data import prefetch_queue as prefetch_queue
from tfexp.contributed.slim_data import queues as queues
from tfexp.contributed.slim_data import tfexample_decoder as tfexample_decoder
from tfexp.contributed.variables import VariableDeviceChooser as VariableDeviceChooser
from tfexp.contributed.variables import add_model_variable as add_model_variable
from tfexp.contributed.variables import assign_from_checkpoint as assign_from_checkpoint
from tfexp.contributed.variables import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from tfexp.contributed.variables import assign_from_values as assign_from_values
from tfexp.contributed.variables import assign_from_values_fn as assign_from_values_fn
from tfexp.contributed.variables import filter_variables as filter_variables
from tfexp.contributed.variables import get_local_variables as get_local_variables
from tfexp.contributed.variables import get_model_variables as get_model_variables
from tfexp.contributed.variables import get_trainable_variables as get_trainable_variables
from tfexp.contributed.variables import get_unique_variable as get_unique_variable
from tfexp.contributed.variables import get_variable_full_name as get_variable_full_name
from tfexp.contributed.variables import get_variables as get_variables
from tfexp.contributed.variables import get_variables_by_name as get_variables_by_name
from tfexp.contributed.variables import get_variables_by_suffix as get_variables_by_suffix
from tfexp.contributed.variables import get_variables_to_restore as get_variables_to_restore
from tfexp.contributed.variables import global_variable as global_variable
from tfexp.contributed.variables import local_variable as local_variable
from tfexp.contributed.variables import model_variable as model_variable
from tfexp.contributed.variables import variable as variable
from tfexp.core.gone import missing_from
from tfexp.layers import regularizers as initializers
from tfexp.layers import regularizers as regularizers
from tfexp.train.global_step import assert_global_step as assert_global_step
from tfexp.train.global_step import create_global_step as create_global_step
from tfexp.train.global_step import get_global_step as get_global_step
from tfexp.train.global_step import get_or_create_global_step as get_or_create_global_step

__getattr__ = missing_from("tf.contrib.slim")
