"""The files of a checkpoint, and how they take the place of an older one whole or not at all.

A checkpoint at `prefix` is `prefix.data-00000-of-0000N`, ... and `prefix.index`. Two files cannot be replaced
in one step, so a writer first completes all of them under temporary names that share a token
(`<file>.tempstate<token>`) and then renames them, data first and the index last. The temporary names are the
journal of that commit:

- Temporary data, perhaps a temporary index: the writer died before the commit. The older checkpoint stands.
- A complete temporary index, and at least one of its data files already renamed: the writer died within the
  commit. All bytes of the new checkpoint are there, so readers take the files that are still under temporary
  names, and the next writer finishes the renames.

A process may die at any point. As in TensorFlow, a power cut soon after a save may leave a damaged file, which
the CRCs tell.
"""

from __future__ import annotations

import glob
import os

from tfexp.formats.protos.tensor_bundle import BundleHeaderProto
from tfexp.formats.table import TableError, read_table

_TEMPORARY = ".tempstate"


def index_path(prefix: str) -> str:
    """The index file of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, num_shards: int) -> str:
    """One of a checkpoint's data files."""
    return f"{prefix}.data-{shard:05d}-of-{num_shards:05d}"


def temporary(path: str, token: str) -> str:
    """The name under which the writer with `token` completes `path`."""
    return f"{path}{_TEMPORARY}{token}"


def new_token() -> str:
    """A token that no other writer has."""
    return os.urandom(8).hex()


def commit(prefix: str, token: str, num_shards: int) -> None:
    """Renames a completed checkpoint into its place, going on where an earlier call may have stopped."""
    for shard in range(num_shards):
        final = data_path(prefix, shard, num_shards)
        if os.path.exists(temporary(final, token)):
            os.replace(temporary(final, token), final)
    os.replace(temporary(index_path(prefix), token), index_path(prefix))


def interrupted_commit(prefix: str) -> tuple[str, int] | None:
    """(token, number of shards) of the commit at `prefix` that stopped between its first and last rename, or
    None.
    """
    pattern = temporary(glob.escape(index_path(prefix)), "*")
    for path in sorted(glob.glob(pattern), key=os.path.getmtime, reverse=True):
        token = path.rpartition(_TEMPORARY)[2]
        try:
            with open(path, "rb") as file:
                _, header = next(read_table(file.read()))
        except (FileNotFoundError, TableError, StopIteration):
            continue  # its writer finished just now, or died while writing it
        shards = BundleHeaderProto.FromString(header).num_shards
        if not all(os.path.exists(temporary(data_path(prefix, i, shards), token)) for i in range(shards)):
            return token, shards
    return None


def fingerprint(prefix: str) -> tuple[str | None, int, int]:
    """(token of an interrupted commit or None, identity, time) of what stands at `prefix`; every commit changes it."""
    found = interrupted_commit(prefix)
    try:
        index = os.stat(index_path(prefix))
    except FileNotFoundError:
        return (found[0] if found else None), 0, 0
    return (found[0] if found else None), index.st_ino, index.st_mtime_ns


def settle(prefix: str) -> None:
    """Leaves at `prefix` one whole checkpoint or none: finishes an interrupted commit, removes what dead
    writers left.

    For the next writer at `prefix`, of which there must be one at a time.
    """
    found = interrupted_commit(prefix)
    if found is not None:
        commit(prefix, *found)
    discard(prefix, "*")


def discard(prefix: str, token: str) -> None:
    """Removes the temporary files of `token` (a glob pattern) at `prefix`, the index first, for it is what
    commits.
    """
    escaped = glob.escape(prefix)
    for pattern in (index_path(escaped), f"{escaped}.data-?????-of-?????"):
        for path in glob.glob(temporary(pattern, token)):
            os.remove(path)


def sync_path(path: str) -> None:
    """Waits until a file's bytes, or a folder's entries, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
