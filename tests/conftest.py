"""What holds for all tests."""

import sys

from absl import logging as absl_logging

# absl's handler takes the `sys.stderr` of its import, which in a test is pytest's, and closes it when a program that is run
# inside a test (Hydra's) sets up logging anew. The process's own it leaves open.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__
