"""`tf.initializers`: initial values of variables."""

from tfexp.ops.initializers import constant_initializer as constant
from tfexp.ops.initializers import glorot_normal_initializer as glorot_normal
from tfexp.ops.initializers import glorot_uniform_initializer as glorot_uniform
from tfexp.ops.initializers import he_normal, he_uniform, lecun_normal, lecun_uniform
from tfexp.ops.initializers import ones_initializer as ones
from tfexp.ops.initializers import random_normal_initializer as random_normal
from tfexp.ops.initializers import random_uniform_initializer as random_uniform
from tfexp.ops.initializers import truncated_normal_initializer as truncated_normal
from tfexp.ops.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling
from tfexp.ops.initializers import variance_scaling_initializer as variance_scaling
from tfexp.ops.initializers import zeros_initializer as zeros
from tfexp.ops.matrix_initializers import identity_initializer as identity
from tfexp.ops.matrix_initializers import orthogonal_initializer as orthogonal
from tfexp.ops.variable_lists import global_variables_initializer as global_variables
from tfexp.ops.variable_lists import local_variables_initializer as local_variables
from tfexp.ops.variable_lists import tables_initializer
from tfexp.ops.variable_lists import variables_initializer as variables

__all__ = [
    "constant",
    "global_variables",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "local_variables",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "tables_initializer",
    "truncated_normal",
    "uniform_unit_scaling",
    "variables",
    "variance_scaling",
    "zeros",
]
