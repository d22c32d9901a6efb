"""Critical sections."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs


@program("V4: critical sections")
def critical_section(tf: Any) -> Outcome:
    section = tf.CriticalSection(name="section")
    v = tf.get_variable("v", [], use_resource=True, initializer=tf.zeros_initializer())
    outside = tf.constant(2.0) * 3.0
    added = section.execute(lambda: v.assign_add(outside).read_value())
    with tf.name_scope("scope"):
        pair = section.execute(lambda: (v.read_value() * 2.0, v.read_value()), exclusive_resource_access=False, name="pair")
    init = tf.global_variables_initializer()
    return runs(Run(init), Run(added), Run(added), Run(list(pair)))
