"""The ops that conditionals and loops are made of (`plan.loops` says how), each with its kin for references."""

from __future__ import annotations

SWITCHES = frozenset({"Switch", "RefSwitch"})
"""They decide at run time which of their outputs live."""
MERGES = frozenset({"Merge", "RefMerge"})
ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
BACK_EDGES = frozenset({"NextIteration", "RefNextIteration"})
