"""Where `tensorflow.python.debug` is: the rows of the table in `places` for it."""

from __future__ import annotations

_DATA = "tfexp.debug.dump_dir tfexp.debug.tensors"
_SESSIONS = "tfexp.debug.local tfexp.debug.sessions tfexp.stand_ins.debugger"
_NAMES = "tfexp.stand_ins.debug_names"

DEBUG = {
    "debug": f"{_DATA} {_SESSIONS} tfexp.debug.watching tfexp.debug.graphs tfexp.debug.gradients",
    "debug.cli.evaluator": "tfexp.debug.expressions",
    "debug.cli.command_parser": "tfexp.stand_ins.debug_command_parser",
    "debug.cli.debugger_cli_common": (
        "tfexp.stand_ins.debug_texts tfexp.stand_ins.debug_registries tfexp.stand_ins.debug_menus"
    ),
    "debug.cli.cli_test_utils": "tfexp.stand_ins.debug_text_tests",
    "debug.cli.tensor_format": "tfexp.stand_ins.debug_tensor_format",
    "debug.lib.common": _NAMES,
    "debug.lib.debug_data": f"{_DATA} {_NAMES}",
    "debug.lib.debug_gradients": "tfexp.debug.gradients",
    "debug.lib.debug_graphs": f"tfexp.debug.graphs {_NAMES} tfexp.debug.graphs:_infer_device_name=device_of",
    "debug.lib.debug_utils": "tfexp.debug.watching",
    "debug.wrappers.dumping_wrapper": "tfexp.debug.sessions",
    "debug.wrappers.framework": "tfexp.debug.sessions",
    "debug.wrappers.grpc_wrapper": "tfexp.stand_ins.debugger",
    "debug.wrappers.hooks": _SESSIONS,
    "debug.wrappers.local_cli_wrapper": "tfexp.debug.local",
}
