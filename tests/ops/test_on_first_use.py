"""Ops of rarely used modules: found by name, and registered by the module that is named."""

from __future__ import annotations

import subprocess
import sys

import tfexp as tf  # noqa: F401  # registers them
from tfexp.core import op as ops


def test_each_is_defined_by_its_module():
    for name, module in ops._ON_FIRST_USE.items():
        found = ops.find_op(name)
        assert found is not None, f"{module} does not define {name}"
        assert name in {defined.name for defined in vars(sys.modules[module]).values() if isinstance(defined, ops.Op)}


def test_no_such_module_is_imported_with_tfexp_or_is_left_out():
    code = (
        "import sys, tfexp\n"
        "from tfexp.core import op\n"
        "assert not [m for m in op._ON_FIRST_USE.values() if m in sys.modules]\n"
        "before = set(op._OPS)\n"
        "op.all_ops()\n"
        "assert set(op._OPS) - before == set(op._ON_FIRST_USE), set(op._OPS) ^ before ^ set(op._ON_FIRST_USE)\n"
        "assert 'PIL' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
