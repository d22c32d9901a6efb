"""`tf.test`: test cases that run graphs."""

from unittest import mock as mock

from tfexp.distributed.local_cluster import create_local_cluster as create_local_cluster
from tfexp.runtime.benchmark import Benchmark as Benchmark
from tfexp.runtime.benchmark import benchmark_config as benchmark_config
from tfexp.runtime.gradient_check import compute_gradient as compute_gradient
from tfexp.runtime.gradient_check import compute_gradient_error as compute_gradient_error
from tfexp.runtime.testing import TestCase as TestCase
from tfexp.runtime.testing import assert_equal_graph_def as assert_equal_graph_def
from tfexp.runtime.testing import get_temp_dir as get_temp_dir
from tfexp.runtime.testing import gpu_device_name as gpu_device_name
from tfexp.runtime.testing import is_built_with_cuda as is_built_with_cuda
from tfexp.runtime.testing import is_built_with_gpu_support as is_built_with_gpu_support
from tfexp.runtime.testing import is_built_with_rocm as is_built_with_rocm
from tfexp.runtime.testing import is_gpu_available as is_gpu_available
from tfexp.runtime.testing import main as main
from tfexp.runtime.testing import test_src_dir_path as test_src_dir_path
from tfexp.runtime.testing_io import StubOutForTesting as StubOutForTesting
