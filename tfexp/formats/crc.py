"""CRC-32C in the masked form that TensorFlow's files store.

A CRC that is stored beside its data is masked, because the CRC of bytes that contain their own CRC is
degenerate.
"""

from __future__ import annotations

import google_crc32c
import numpy as np
from numpy.typing import NDArray

_MASK_DELTA = 0xA282EAD8


def crc32c(data: bytes | NDArray[np.uint8], crc: int = 0) -> int:
    """The CRC-32C of bytes or of a C-contiguous uint8 array (no memoryview), going on from `crc`."""
    return int(google_crc32c.extend(crc, data))


def mask(crc: int) -> int:
    """The stored form of a CRC."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def unmask(masked: int) -> int:
    """The CRC of a stored form."""
    rotated = (masked - _MASK_DELTA) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """`mask(crc32c(data))`."""
    return mask(google_crc32c.value(data))
