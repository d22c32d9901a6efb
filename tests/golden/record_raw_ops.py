"""Records the parameters of TensorFlow's raw ops, with their defaults: `python -m tests.golden.record_raw_ops`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`).
"""

from __future__ import annotations

import inspect
import json
import lzma
from pathlib import Path
from typing import Any

from tests.golden import oracle

RECORDING = Path(__file__).parent / "raw_ops" / "parameters.json.xz"


def parameters(call: Any) -> dict[str, str | None]:
    """name -> its default as it is written, None without one; in order."""
    found = inspect.signature(call).parameters.values()
    return {p.name: None if p.default is inspect.Parameter.empty else repr(p.default) for p in found}


def recorded() -> dict[str, dict[str, str | None]]:
    """op -> its parameters in TensorFlow."""
    found: dict[str, dict[str, str | None]] = json.loads(lzma.decompress(RECORDING.read_bytes()))
    return found


def main() -> None:
    raw_ops = oracle.tensorflow().raw_ops
    found = {name: parameters(call) for name in dir(raw_ops) if callable(call := getattr(raw_ops, name))}
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(lzma.compress(json.dumps(found).encode()))
    print(f"{len(found)} ops, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
