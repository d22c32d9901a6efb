"""Every registered op has a row in a table of this folder, or a reason in `exemptions.py`."""

from __future__ import annotations

import importlib
import pkgutil

import tests.ops
from tests.ops.exemptions import EXEMPT
from tests.ops.harness import CASES
from tfexp.core.op import all_ops


def _ops_with_rows() -> set[str]:
    for module in pkgutil.iter_modules(tests.ops.__path__):
        if module.name.startswith("test_"):
            importlib.import_module(f"tests.ops.{module.name}")
    return {case.op for case in CASES}


def test_every_op_has_a_row_or_a_reason() -> None:
    missing = sorted(set(all_ops()) - _ops_with_rows() - set(EXEMPT))
    assert not missing, f"no test row in tests/ops and no reason in exemptions.py: {', '.join(missing)}"


def test_no_exemption_is_stale() -> None:
    unknown = sorted(set(EXEMPT) - set(all_ops()))
    assert not unknown, f"exempt, but not registered: {', '.join(unknown)}"
    needless = sorted(set(EXEMPT) & _ops_with_rows())
    assert not needless, f"exempt, but with a row: {', '.join(needless)}"
    assert all(EXEMPT.values()), "an exemption without a reason"
