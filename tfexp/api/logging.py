"""`tf.logging`: the logger `tensorflow` of Python's own logging."""

from logging import DEBUG as DEBUG
from logging import ERROR as ERROR
from logging import FATAL as FATAL
from logging import INFO as INFO
from logging import WARN as WARN
from logging import getLogger

_log = getLogger("tensorflow")
log = _log.log
debug = _log.debug
info = _log.info
warn = warning = _log.warning
error = _log.error
fatal = _log.critical
set_verbosity = _log.setLevel
get_verbosity = _log.getEffectiveLevel
