"""`tf.contrib.framework`: arg_scope, variables by their names, checkpoints."""

from tfexp.api.contrib.framework import nest as nest
from tfexp.contributed.arg_scope import add_arg_scope as add_arg_scope
from tfexp.contributed.arg_scope import arg_scope as arg_scope
from tfexp.contributed.arg_scope import arg_scope_func_key as arg_scope_func_key
from tfexp.contributed.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from tfexp.contributed.arg_scope import current_arg_scope as current_arg_scope
from tfexp.contributed.arg_scope import has_arg_scope as has_arg_scope
from tfexp.contributed.earlier_arguments import init_from_checkpoint as init_from_checkpoint
from tfexp.contributed.earlier_arguments import list_variables as list_variables
from tfexp.contributed.earlier_arguments import load_checkpoint as load_checkpoint
from tfexp.contributed.earlier_arguments import load_variable as load_variable
from tfexp.contributed.earlier_arguments import remove_squeezable_dimensions as remove_squeezable_dimensions
from tfexp.contributed.graph_values import assert_or_get_global_step as assert_or_get_global_step
from tfexp.contributed.graph_values import get_placeholders as get_placeholders
from tfexp.contributed.graph_values import py_func as py_func
from tfexp.contributed.graph_values import zero_initializer as zero_initializer
from tfexp.contributed.remapped_matrices import load_and_remap_matrix_initializer as load_and_remap_matrix_initializer
from tfexp.contributed.remapped_matrices import load_embedding_initializer as load_embedding_initializer
from tfexp.contributed.remapped_matrices import (
    load_linear_multiclass_bias_initializer as load_linear_multiclass_bias_initializer,
)
from tfexp.contributed.remapped_matrices import (
    load_variable_slot_initializer as load_variable_slot_initializer,
)
from tfexp.contributed.shape_checks import assert_scalar_int as assert_scalar_int
from tfexp.contributed.shape_checks import reduce_sum_n as reduce_sum_n
from tfexp.contributed.shape_checks import with_same_shape as with_same_shape
from tfexp.contributed.shape_checks import with_shape as with_shape
from tfexp.contributed.smart_cond import smart_case as smart_case
from tfexp.contributed.smart_cond import smart_cond as smart_cond
from tfexp.contributed.smart_cond import smart_constant_value as smart_constant_value
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
from tfexp.core.deprecation import deprecated as deprecated
from tfexp.core.deprecation import deprecated_arg_values as deprecated_arg_values
from tfexp.core.deprecation import deprecated_args as deprecated_args
from tfexp.core.gone import missing_from
from tfexp.formats.checkpoint_state import get_checkpoint_mtimes as get_checkpoint_mtimes
from tfexp.graph.bounded_tensor_spec import BoundedTensorSpec as BoundedTensorSpec
from tfexp.graph.scope_names import prepend_name_scope as prepend_name_scope
from tfexp.graph.scope_names import strip_name_scope as strip_name_scope
from tfexp.graph.scopes import graph_of as get_graph_from_inputs
from tfexp.graph.sparse_tensor import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from tfexp.graph.type_spec import TensorSpec as TensorSpec
from tfexp.graph.unpublished import get_name_scope as get_name_scope
from tfexp.ops.check_compare import assert_scalar as assert_scalar
from tfexp.ops.check_types import assert_same_float_dtype as assert_same_float_dtype
from tfexp.ops.check_types import is_tensor as is_tensor
from tfexp.ops.critical_section import CriticalSection as CriticalSection
from tfexp.ops.orthogonal_kernels import convolutional_delta_orthogonal as convolutional_delta_orthogonal
from tfexp.ops.orthogonal_kernels import convolutional_orthogonal_1d as convolutional_orthogonal_1d
from tfexp.ops.orthogonal_kernels import convolutional_orthogonal_2d as convolutional_orthogonal_2d
from tfexp.ops.orthogonal_kernels import convolutional_orthogonal_3d as convolutional_orthogonal_3d
from tfexp.ops.sort import argsort as argsort
from tfexp.ops.sort import sort as sort
from tfexp.train.global_step import assert_global_step as assert_global_step
from tfexp.train.global_step import create_global_step as create_global_step
from tfexp.train.global_step import get_global_step as get_global_step
from tfexp.train.global_step import get_or_create_global_step as get_or_create_global_step

__getattr__ = missing_from("tf.contrib.framework")
