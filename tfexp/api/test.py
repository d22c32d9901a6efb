"""`tf.test`."""

from unittest import main as main
from unittest import mock as mock

from tfexp.core.gone import missing_from
from tfexp.runtime.testing import TestCase as TestCase
from tfexp.runtime.testing import assert_equal_graph_def as assert_equal_graph_def
from tfexp.runtime.testing import compute_gradient as compute_gradient
from tfexp.runtime.testing import compute_gradient_error as compute_gradient_error
from tfexp.runtime.testing import get_temp_dir as get_temp_dir
from tfexp.runtime.testing import gpu_device_name as gpu_device_name
from tfexp.runtime.testing import is_built_with_cuda as is_built_with_cuda
from tfexp.runtime.testing import is_gpu_available as is_gpu_available

__getattr__ = missing_from("tf.test")
