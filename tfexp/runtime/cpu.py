"""Who owns the cores, and how the processor treats tiny numbers. The runtime's business, so that it is not left to luck.

Threads: NumPy's BLAS gets `max(1, cores // tasks)`, where tasks are the servers of one host: pools that compete for cores
cost more than they bring (two trainers with 2 threads each on 2 cores ran 4 times slower than with 1 each). Kernels that
split their work themselves (convolution, pooling) have as many threads of their own (`core.workers`), and BLAS keeps to one
thread while they run; small element-wise NumPy in Python threads loses to the interpreter's lock what it gains. The number
is fixed for as long as the process runs, because results depend on it. What the environment sets (`OPENBLAS_NUM_THREADS`
and friends) is respected.

Denormals: as in TensorFlow, numbers too small for full precision count as zero while a step runs. Arithmetic on them is
up to 30 times slower, and optimizers' moments drift there late in a run. Outside of steps the processor is as Python
left it. Only where the C library lets us (glibc on x86-64); elsewhere denormals stay, and the report says so.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core import workers

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
_REPORTED_VARIABLES = (*_THREAD_VARIABLES, "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")

_tasks = 1


# --- threads -----------------------------------------------------------------------------------------------------


def cores() -> int:
    """The cores that this process may use: its affinity, and the control group's quota where that is less."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return available
    return available if quota == "max" else max(1, min(available, math.ceil(int(quota) / int(period))))


def threads() -> int:
    """The BLAS threads of one task."""
    return max(1, cores() // _tasks)


def step_threads(config: Any) -> int:
    """The threads that run a step's heavy nodes, in a session with this ConfigProto."""
    own = _from_environment() or config.intra_op_parallelism_threads or threads()
    return min(config.inter_op_parallelism_threads or own, own)


def share_cores(tasks: int) -> None:
    """Say that `tasks` tasks share this host's cores, and let BLAS follow. ValueError for less than one."""
    global _tasks
    if tasks < 1:
        raise ValueError(f"share_cores: at least one task has to run here, not {tasks}")
    _tasks = tasks
    set_blas_threads(threads())
    _install_workers(threads())


def configure(intra_op_threads: int) -> None:
    """What a new session asks for: that many BLAS threads, or (0) what the machine and its tasks suggest."""
    wanted = intra_op_threads or threads()
    if intra_op_threads or wanted != _usual():
        set_blas_threads(wanted)
    _install_workers(wanted)


def _install_workers(wanted: int) -> None:
    number = _from_environment() or wanted
    if number != workers.threads():
        workers.install(workers.Team(number, _limit_blas, flush_denormals))


def _from_environment() -> int | None:
    """The number of threads that the environment sets, if it does."""
    values = (os.environ.get(name, "") for name in _THREAD_VARIABLES)
    return next((int(value) for value in values if value.isdigit() and int(value) > 0), None)


@functools.cache
def _blas_libraries() -> tuple[Any, ...]:
    return tuple(library for library in _pools().lib_controllers if library.user_api == "blas")


def _limit_blas(number: int) -> None:
    """The same at once, for the time of one kernel: a microsecond, where `set_blas_threads` looks for libraries first."""
    for library in _blas_libraries():
        library.set_num_threads(number)


def _usual() -> int:
    """The threads that BLAS takes of itself: it does not know of quotas."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_blas_threads(number: int) -> None:
    """Give every BLAS pool of the process that many threads, unless the environment decided."""
    if not any(os.environ.get(name) for name in _THREAD_VARIABLES):
        _pools().limit(limits=number, user_api="blas")


def _pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def report() -> dict[str, Any]:
    """What a run's manifest says about the processor: cores, tasks, BLAS, environment, denormals."""
    pools = [
        {key: pool.get(key) for key in ("internal_api", "version", "architecture", "num_threads")}
        for pool in _pools().info()
        if pool.get("user_api") == "blas"
    ]
    return {
        "machine": platform.machine(),
        "cores": cores(),
        "tasks": _tasks,
        "blas": pools,
        "environment": {name: os.environ[name] for name in _REPORTED_VARIABLES if name in os.environ},
        "denormals": "flushed to zero within steps" if FLUSHES_DENORMALS else "kept",
    }


# --- denormals ---------------------------------------------------------------------------------------------------

# In glibc's x86-64 fenv_t: the control and status register of SSE, and its flush-to-zero and denormals-are-zero bits.
_FENV_SIZE, _MXCSR_OFFSET, _FLUSH_BITS = 32, 28, 0x8040

Switch = Callable[[], Any]


def _nothing() -> None:
    return None


def _denormal_switches() -> tuple[Switch, Switch]:
    """What turns flushing on, and what restores the floating-point environment, in the calling thread."""
    if not (sys.platform == "linux" and platform.machine() == "x86_64" and os.confstr("CS_GNU_LIBC_VERSION")):
        return _nothing, _nothing
    # PyDLL: the calls take nanoseconds, too little to let go of the interpreter's lock.
    library = ctypes.PyDLL("libm.so.6")
    plain = (ctypes.c_char * _FENV_SIZE)()
    library.fegetenv(plain)
    flushing = (ctypes.c_char * _FENV_SIZE).from_buffer_copy(plain)
    (register,) = struct.unpack_from("<I", plain, _MXCSR_OFFSET)
    struct.pack_into("<I", flushing, _MXCSR_OFFSET, register | _FLUSH_BITS)
    set_environment = library.fesetenv
    set_environment.argtypes = [ctypes.c_void_p]
    _KEPT.extend([plain, flushing])
    return (
        functools.partial(set_environment, ctypes.addressof(flushing)),
        functools.partial(set_environment, ctypes.addressof(plain)),
    )


_KEPT: list[Any] = []  # the memory behind the addresses
flush_denormals, restore_denormals = _denormal_switches()
FLUSHES_DENORMALS = flush_denormals is not _nothing


@contextlib.contextmanager
def denormals_flushed() -> Iterator[None]:
    """A block in which denormals count as zero."""
    flush_denormals()
    try:
        yield
    finally:
        restore_denormals()
