"""`tensorflow.tools.compatibility.all_renames_v2`: what version 1's public names are called from version 2 on.

TensorFlow's table has for some of them another name of version 2's; this one has for each the name that always holds.
"""

from __future__ import annotations

from tfexp.core.gone import public_symbols

symbol_renames: dict[str, str] = {
    symbol: f"tf.compat.v1.{symbol.removeprefix('tf.')}"
    for symbol in sorted(set(public_symbols()).difference(public_symbols("2.0")))
}
