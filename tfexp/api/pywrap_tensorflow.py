"""`tf.pywrap_tensorflow`: readers of checkpoints and writers of event files, under the names of the wrapped library."""

from tfexp.core.gone import missing_from
from tfexp.formats.checkpoints import open_checkpoint as NewCheckpointReader
from tfexp.stand_ins.event_files import EventsWriter as EventsWriter

__getattr__ = missing_from("tf.pywrap_tensorflow")
