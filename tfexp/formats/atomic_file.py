"""Small files that appear whole or not at all."""

from __future__ import annotations

import os

from tfexp.formats.file_errors import file_error


def replace_file(path: str, data: bytes) -> None:
    """Put `data` in the place of the file `path`; readers see the old content or the new. Raises as `file_errors` says."""
    temporary = f"{path}.tmp-{os.urandom(8).hex()}"
    try:
        try:
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
    except OSError as error:
        raise file_error(path, error) from error
