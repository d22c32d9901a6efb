"""`import tensorflow` in processes that a program run by `tfexp.script` starts: the folder above is on their PYTHONPATH."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("tfexp") is None:  # the first process had it from where it was started
    sys.path.append(str(Path(__file__).parents[3]))

from tfexp import as_tensorflow

as_tensorflow.install()
sys.modules[__name__] = sys.modules["tfexp"]
