"""`tf.config`: re-exports."""

from tfexp.api.config import experimental as experimental
from tfexp.api.config import optimizer as optimizer
from tfexp.api.config import threading as threading
from tfexp.core.gone import missing_from
from tfexp.functions.function import run_functions_eagerly as experimental_run_functions_eagerly
from tfexp.runtime.process_config import connect_to_cluster as experimental_connect_to_cluster
from tfexp.runtime.process_config import connect_to_host as experimental_connect_to_host
from tfexp.runtime.process_config import get_soft_device_placement as get_soft_device_placement
from tfexp.runtime.process_config import list_devices as experimental_list_devices
from tfexp.runtime.process_config import set_soft_device_placement as set_soft_device_placement

__all__ = [
    "experimental",
    "experimental_connect_to_cluster",
    "experimental_connect_to_host",
    "experimental_list_devices",
    "experimental_run_functions_eagerly",
    "get_soft_device_placement",
    "optimizer",
    "set_soft_device_placement",
    "threading",
]

__getattr__ = missing_from("tf.config")
