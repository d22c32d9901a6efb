"""The rows of the table of stand-ins (`places`) for `tensorflow.python.autograph`."""

from __future__ import annotations

_TRANSLATOR = (
    "converters.break_statements converters.continue_statements converters.return_statements core.naming "
    "core.converter_testing pyct.anno pyct.common_transformers.anf "
    "pyct.compiler pyct.inspect_utils pyct.parser pyct.qual_names pyct.templates"
)

# tensorflow.python.<key>, with the places that answer, in order.
AUTOGRAPH = {
    "autograph": "tfexp.stand_ins.autograph_calls tf.autograph tf.autograph.experimental",
    "autograph.core.ag_ctx": "tfexp.stand_ins.translation_status",
    "autograph.core.converter": "tfexp.stand_ins.autograph_calls",
    "autograph.core.function_wrappers": "tfexp.stand_ins.autograph_scopes",
    "autograph.impl.api": "tfexp.stand_ins.autograph_calls tf.autograph tf.autograph.experimental "
    "tfexp.autograph.source:ConversionError=ConversionError",
    "autograph.lang.directives": "tf.autograph.experimental",
    "autograph.lang.special_functions": "tfexp.stand_ins.autograph_lists",
    "autograph.operators.control_flow": "",
    "autograph.operators.data_structures": "tfexp.stand_ins.autograph_lists",
    "autograph.operators.exceptions": "tfexp.stand_ins.autograph_operators",
    "autograph.operators.logical": "tfexp.autograph.branches",
    "autograph.operators.py_builtins": "tfexp.stand_ins.autograph_operators",
    "autograph.operators.slices": "tfexp.stand_ins.autograph_lists",
    "autograph.operators.special_values": "tfexp.stand_ins.autograph_operators",
    "autograph.utils.ag_logging": "tf.autograph tf.logging",
    **{
        f"autograph.utils.{name}": "tfexp.stand_ins.autograph_operators"
        for name in ("misc", "py_func", "tensors", "type_check")
    },
    "autograph.utils.tensor_list": "tfexp.stand_ins.autograph_lists",
    # TensorFlow's translator of Python code is not here: programs that use it import, and say what they lack when they do.
    **{f"autograph.{name}": "" for name in _TRANSLATOR.split()},
    "autograph.pyct.transformer": "ast:Base=NodeTransformer",
}
