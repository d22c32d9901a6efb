"""`tf.keras.utils.get_file`: a file from the cache, fetched when it is not there. Source: TF 1.15."""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfexp.core import log
from tfexp.keras.backend.config import keras_home
from tfexp.keras.utils.progbar import Progbar

_BLOCK = 1 << 16


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of `fname` below `cache_dir` (by default ~/.keras), fetched from `origin` when absent or not as hashed.

    fname: a name, or an absolute path. untar: `fname` is a folder, beside the archive `fname.tar.gz`. extract: unpack it
    where it lies. archive_format: 'tar', 'zip', a list of these, None, or 'auto' for both.
    ValueError for a file that came and is not as its hash says; OSError, which says what to do without a network, where it
    cannot be fetched.
    """
    if file_hash is None and md5_hash is not None:
        file_hash, hash_algorithm = md5_hash, "md5" if hash_algorithm == "auto" else hash_algorithm
    home = Path(cache_dir).expanduser() if cache_dir is not None else keras_home()
    target = (home if cache_dir is not None else _writable(home)) / cache_subdir / fname
    archive = target.with_name(target.name + ".tar.gz") if untar else target
    if not archive.exists() or (file_hash is not None and not _is_known_good(archive, file_hash, hash_algorithm)):
        _fetch(origin, archive)
        if file_hash is not None and not validate_file(archive, file_hash, hash_algorithm):
            raise ValueError(
                f"Incomplete or corrupted file detected. The hash of {archive}, from {origin}, is not {file_hash}."
            )
    if untar:
        if not target.exists():
            _extract_archive(archive, target.parent, "tar")
    elif extract:
        _extract_archive(archive, archive.parent, archive_format)
    return str(target)


def _writable(home: Path) -> Path:
    """`home`, or a place for those who have none."""
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    return home if os.access(nearest, os.W_OK) else Path(tempfile.gettempdir()) / ".keras"


def _is_known_good(path: Path, file_hash: str, algorithm: str) -> bool:
    good = validate_file(path, file_hash, algorithm)
    if not good:
        log.warn(
            "A local file was found, but it seems to be incomplete or outdated: its hash is not %s. Fetching it again.",
            file_hash,
        )
    return good


def _fetch(origin: str, path: Path) -> None:
    """Download to `path`; what came of it so far is removed when it fails."""
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    print(f"Downloading data from {origin}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with urlopen(origin) as answer, partial.open("wb") as file:
            size = answer.headers.get("Content-Length")
            progress, done = Progbar(int(size) if size and int(size) > 0 else None), 0
            while block := answer.read(_BLOCK):
                file.write(block)
                done += len(block)
                progress.update(done)
        partial.replace(path)
    except HTTPError as error:
        raise OSError(
            f"URL fetch failure on {origin}: {error.code} -- {error.msg}. Or put the file at {path} yourself."
        ) from error
    except URLError as error:
        raise OSError(
            f"URL fetch failure on {origin}: {error.reason}. Without a network, put the file at {path}."
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _extract_archive(path: Path, folder: Path, archive_format: Any = "auto") -> bool:
    """Unpack `path` into `folder`; False where it is no archive of the formats that are asked for."""
    if archive_format is None:
        return False
    formats: Sequence[str] = ["tar", "zip"] if archive_format == "auto" else archive_format
    for kind in [formats] if isinstance(formats, str) else formats:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as opened:
                opened.extractall(folder, filter="data")  # nothing outside of the folder
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zipped:
                zipped.extractall(folder)
            return True
    return False


def hash_of_file(path: Any, algorithm: str = "sha256", chunk_size: int = _BLOCK) -> str:
    """The hexadecimal hash of a file's bytes: 'sha256' ('auto' too) or 'md5'."""
    digest = hashlib.md5(usedforsecurity=False) if algorithm == "md5" else hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(chunk_size):
            digest.update(block)
    return digest.hexdigest()


def validate_file(path: Any, file_hash: str, algorithm: str = "auto", chunk_size: int = _BLOCK) -> bool:
    """Whether a file has this hash; 'auto' tells by the hash's length which it is."""
    is_sha256 = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return hash_of_file(path, "sha256" if is_sha256 else "md5", chunk_size) == str(file_hash)
