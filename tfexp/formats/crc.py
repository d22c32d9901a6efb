"""CRC-32C in the masked form that TensorFlow's files store.

A CRC that is stored beside its data is masked, because the CRC of bytes that contain their own CRC is
degenerate.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def masked_crc32cs(records: Sequence[bytes]) -> NDArray[np.uint64]:
    """`masked_crc32c` of each of them."""
    crcs = np.array(list(map(google_crc32c.value, records)), np.uint64)
    rotated = (crcs >> np.uint64(15)) | (crcs << np.uint64(17))
    return (rotated + np.uint64(_MASK_DELTA)) & np.uint64(0xFFFFFFFF)


def masked_crc32c(data: bytes) -> int:
    """`mask(crc32c(data))`."""
    return mask(google_crc32c.value(data))
