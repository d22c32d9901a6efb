"""Small files that appear whole or not at all."""

from __future__ import annotations

import os

from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path


def replace_file(path: str, data: bytes) -> None:
    """Put `data` in the place of the file `path`; readers see the old content or the new. Raises as `file_errors` says."""
    target = local_path(path)
    temporary = f"{target}.tmp-{os.urandom(8).hex()}"
    try:
        try:
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, target)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
    except OSError as error:
        raise file_error(path, error) from error
