"""`tensorflow.tools.docs.doc_controls`: what libraries say of the pages that their names shall have. Source: TF 1.15.

Marks are attributes of functions and classes, which tools that write pages look for.
"""

from __future__ import annotations

from typing import Any

_NEVER = "_tf_docs_do_not_document"
_NOT_INHERITED = "_tf_docs_do_not_doc_inheritable"
_FOR_IMPLEMENTERS = "_tf_docs_tools_for_subclass_implementers"


def do_not_generate_docs(obj: Any) -> Any:
    """No page for this; what overrides it may have one."""
    setattr(obj, _NEVER, None)
    return obj


def do_not_doc_inheritable(obj: Any) -> Any:
    """No page for this method, nor for those that override it."""
    setattr(obj, _NOT_INHERITED, None)
    return obj


def for_subclass_implementers(obj: Any) -> Any:
    """A page for this method in its class alone: those who derive from that define it, and nobody calls it."""
    setattr(obj, _FOR_IMPLEMENTERS, None)
    return obj


do_not_doc_in_subclasses = for_subclass_implementers


def _marked(obj: Any, mark: str) -> bool:
    return hasattr(obj.fget if isinstance(obj, property) else obj, mark)


def should_skip(obj: Any) -> bool:
    """Whether a function or class shall have no page."""
    return any(_marked(obj, mark) for mark in (_NEVER, _NOT_INHERITED))


def should_skip_class_attr(cls: type, name: str) -> bool:
    """Whether a class's page shall leave this attribute out. AttributeError where the class does not have it."""
    if should_skip(getattr(cls, name)):
        return True
    if _marked(cls.__dict__.get(name), _FOR_IMPLEMENTERS):
        return False
    return any(
        _marked(base.__dict__.get(name), mark) for base in cls.__mro__[1:] for mark in (_NOT_INHERITED, _FOR_IMPLEMENTERS)
    )
