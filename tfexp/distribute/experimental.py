"""`tf.distribute.experimental`: the strategies that 1.15 keeps there."""

from tfexp.core.gone import missing_from
from tfexp.distribute.collective import CollectiveCommunication as CollectiveCommunication
from tfexp.distribute.collective import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from tfexp.distribute.parameter_server import CentralStorageStrategy as CentralStorageStrategy
from tfexp.distribute.parameter_server import ParameterServerStrategy as ParameterServerStrategy
from tfexp.distribute.tpu import TPUStrategy as TPUStrategy

__getattr__ = missing_from("tf.distribute.experimental")
