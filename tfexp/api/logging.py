"""`tf.logging`: the log, with levels."""

from logging import DEBUG as DEBUG
from logging import ERROR as ERROR
from logging import FATAL as FATAL
from logging import INFO as INFO
from logging import WARN as WARN

from tfexp.core.log import debug as debug
from tfexp.core.log import error as error
from tfexp.core.log import fatal as fatal
from tfexp.core.log import flush as flush
from tfexp.core.log import get_verbosity as get_verbosity
from tfexp.core.log import info as info
from tfexp.core.log import log as log
from tfexp.core.log import log_every_n as log_every_n
from tfexp.core.log import log_first_n as log_first_n
from tfexp.core.log import log_if as log_if
from tfexp.core.log import set_verbosity as set_verbosity
from tfexp.core.log import vlog as vlog
from tfexp.core.log import warn as warn
from tfexp.core.log import warn as warning

__all__ = ["warning"]
