"""`tf.contrib.learn.monitors`: what watches a training, step by step."""

from tfexp.contributed.learn.export_monitor import ExportMonitor as ExportMonitor
from tfexp.contributed.learn.monitors import BaseMonitor as BaseMonitor
from tfexp.contributed.learn.monitors import CaptureVariable as CaptureVariable
from tfexp.contributed.learn.monitors import EveryN as EveryN
from tfexp.contributed.learn.monitors import LoggingTrainable as LoggingTrainable
from tfexp.contributed.learn.monitors import NanLoss as NanLoss
from tfexp.contributed.learn.monitors import NanLossDuringTrainingError as NanLossDuringTrainingError
from tfexp.contributed.learn.monitors import PrintTensor as PrintTensor
from tfexp.contributed.learn.monitors import RunHookAdapterForMonitors as RunHookAdapterForMonitors
from tfexp.contributed.learn.monitors import StopAtStep as StopAtStep
from tfexp.contributed.learn.monitors import ValidationMonitor as ValidationMonitor
from tfexp.contributed.learn.monitors import replace_monitors_with_hooks as replace_monitors_with_hooks
from tfexp.contributed.learn.saving_monitors import CheckpointSaver as CheckpointSaver
from tfexp.contributed.learn.saving_monitors import SummarySaver as SummarySaver
from tfexp.contributed.learn.saving_monitors import get_default_monitors as get_default_monitors
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.monitors")
