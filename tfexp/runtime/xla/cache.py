"""What was compiled is kept on disk, so that the next process need not compile it again.

The folder is the program's own, if it has told JAX of one (`jax_compilation_cache_dir`, `JAX_COMPILATION_CACHE_DIR`), else
`tfexp/xla` in the user's folder for caches (`XDG_CACHE_HOME`). JAX's settings are as they were when compiling is over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax

from tfexp.runtime.user_cache import cache_folder, prune

_WORTH_KEEPING = 0.05  # seconds of compiling: to read it back takes about half of that


@contextlib.contextmanager
def kept_on_disk() -> Iterator[None]:
    """A block in which what is compiled is looked for on disk first, and kept there."""
    if jax.config.jax_compilation_cache_dir:
        yield
        return
    folder = cache_folder("xla")
    prune(folder)
    wanted = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": _WORTH_KEEPING,
    }
    before = {name: getattr(jax.config, name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(settings: dict[str, object]) -> None:
    for name, value in settings.items():
        jax.config.update(name, value)
