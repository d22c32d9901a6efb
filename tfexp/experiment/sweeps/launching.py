"""Where the trials of a sweep run."""

from __future__ import annotations

from pathlib import Path

from tfexp.distributed.pool import Pool
from tfexp.experiment.sweeps.schema import Launcher, Sweep

__all__ = ["pool_of"]


def pool_of(sweep: Sweep, folder: Path) -> Pool:
    """The pool that `sweep.launcher` names; what its workers say outside of trials goes to a log in the folder."""
    if sweep.launcher is Launcher.local:
        from tfexp.distributed.local_pool import LocalPool

        return LocalPool()
    if sweep.launcher is Launcher.process:
        from tfexp.distributed.process_pool import ProcessPool

        return ProcessPool(folder / "workers.log")
    from tfexp.distributed.ray_pool import RayPool

    return RayPool(sweep.address)
