"""Branches and loops as messages, and back: what a MetaGraph's collections `cond_context` and `while_context` hold.

A graph that is imported with them can be differentiated through its loops. Source: control_flow.proto, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tfexp.graph.scope_names import prepend_name_scope, strip_name_scope
from tfexp.graph.scopes import get_default_graph

if TYPE_CHECKING:
    from tfexp.graph.control_flow import ControlFlowContext

# {field of a ControlFlowContextDef: what makes a context of the message there}
_KINDS: dict[str, Callable[..., Any]] = {}


def register_kind(field: str, from_proto: Callable[..., Any]) -> None:
    _KINDS[field] = from_proto


def from_control_flow_context_def(context_def: Any, import_scope: str | None = None) -> Any:
    """The context that the message describes; NotImplementedError for one of another kind."""
    field = context_def.WhichOneof("ctxt")
    if field not in _KINDS:
        raise NotImplementedError(f"Unknown ControlFlowContextDef field: {field}")
    return _KINDS[field](getattr(context_def, field), import_scope=import_scope)


def element(name: str, import_scope: str | None) -> Any:
    """The tensor or node of the default graph that has that name below the scope."""
    return get_default_graph().as_graph_element(prepend_name_scope(name, import_scope))


def values_to_proto(context: ControlFlowContext, export_scope: str | None = None) -> Any:
    """The names of the context's tensors, and of what stands inside for those from outside."""
    from tfexp.formats.protos.control_flow import ValuesDef  # few graphs are exported

    definition = ValuesDef(values=[strip_name_scope(name, export_scope) for name in sorted(context._values)])
    for name, inside in context._external_values.items():
        definition.external_values[strip_name_scope(name, export_scope)] = strip_name_scope(inside.name, export_scope)
    return definition


def values_from_proto(context: ControlFlowContext, definition: Any, import_scope: str | None) -> None:
    """Let the context have these tensors, and the nodes that they come from be its own."""
    context._values = {prepend_name_scope(name, import_scope) for name in definition.values}
    context._external_values = {
        prepend_name_scope(outside, import_scope): element(inside, import_scope)
        for outside, inside in definition.external_values.items()
    }
    graph = get_default_graph()
    for name in {name.split(":")[0] for name in context._values - context._external_values.keys()}:
        graph.as_graph_element(name)._set_control_flow_context(context)


def nested_to_proto(context: ControlFlowContext, definition: Any, export_scope: str | None) -> None:
    for nested in context._nested_contexts:
        nested.to_control_flow_context_def(definition.nested_contexts.add(), export_scope)


def nested_from_proto(context: ControlFlowContext, definitions: Iterable[Any], import_scope: str | None) -> None:
    with context.entered():
        for definition in definitions:
            from_control_flow_context_def(definition, import_scope)
