"""`tf.config.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.runtime.process_config import VirtualDeviceConfiguration as VirtualDeviceConfiguration
from tfexp.runtime.process_config import get_device_policy as get_device_policy
from tfexp.runtime.process_config import get_memory_growth as get_memory_growth
from tfexp.runtime.process_config import get_synchronous_execution as get_synchronous_execution
from tfexp.runtime.process_config import get_virtual_device_configuration as get_virtual_device_configuration
from tfexp.runtime.process_config import get_visible_devices as get_visible_devices
from tfexp.runtime.process_config import list_logical_devices as list_logical_devices
from tfexp.runtime.process_config import list_physical_devices as list_physical_devices
from tfexp.runtime.process_config import set_device_policy as set_device_policy
from tfexp.runtime.process_config import set_memory_growth as set_memory_growth
from tfexp.runtime.process_config import set_synchronous_execution as set_synchronous_execution
from tfexp.runtime.process_config import set_virtual_device_configuration as set_virtual_device_configuration
from tfexp.runtime.process_config import set_visible_devices as set_visible_devices

__getattr__ = missing_from("tf.config.experimental")
