"""`tf.test`: test cases that run graphs."""

from unittest import mock as mock

from tfexp.distributed.local_cluster import create_local_cluster as create_local_cluster
from tfexp.runtime.gradient_check import compute_gradient as compute_gradient
from tfexp.runtime.gradient_check import compute_gradient_error as compute_gradient_error
from tfexp.runtime.testing import TestCase as TestCase
from tfexp.runtime.testing import get_temp_dir as get_temp_dir
from tfexp.runtime.testing import gpu_device_name as gpu_device_name
from tfexp.runtime.testing import is_built_with_cuda as is_built_with_cuda
from tfexp.runtime.testing import is_gpu_available as is_gpu_available
from tfexp.runtime.testing import main as main
