"""`device.placement=dynamic`: what a run measures for the placer, and what it takes from an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.experiment.errors import SettingError
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.schema import Device
from tfexp.plan.measured import makespan
from tfexp.runtime.placement import estimates, with_step_stats

# The placer measures so many steps of each placement; the run keeps a later one, of which everything is warm.
_PERIOD = 3
MEASURED_STEP = 6


def placed_dynamically(config: tf.ConfigProto, device: Device) -> tf.ConfigProto:
    """The ConfigProto, with the placer turned on, and what `device.costs` measured. SettingError if that is no file."""
    config.placement_period = _PERIOD
    if not device.costs:
        return config
    path = Path(device.costs)
    path = RunFiles(path).step_stats if path.is_dir() else path
    try:
        known = tf.RunMetadata().step_stats
        known.ParseFromString(path.read_bytes())
    except OSError as error:
        raise SettingError(
            "device.costs",
            f"{path} cannot be read ({error.strerror}): give the folder of a run that had device.placement=dynamic",
        ) from None
    except Exception as error:
        raise SettingError("device.costs", f"{path} holds no step's statistics: {error}") from None
    return with_step_stats(config, known)


def keep_measured(files: RunFiles, metadata: tf.RunMetadata) -> dict[str, Any]:
    """Write a step's statistics into the run's folder; returns what the placer expected of it beside what it took."""
    files.write_bytes(files.step_stats, metadata.step_stats.SerializeToString())
    expected = {f"{name}_ms": 1e3 * seconds for name, seconds in estimates(metadata).items()}
    return {**expected, "took_ms": 1e3 * makespan(metadata.step_stats)}
