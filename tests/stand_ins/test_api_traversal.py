"""`tools.common`: visits to the modules and classes of a namespace. Results are TensorFlow 1.15's."""

import types

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

traverse = stand_for("tensorflow.tools.common.traverse").traverse
Visitor = stand_for("tensorflow.tools.common.public_api").PublicAPIVisitor


class Shown:
    value = 3

    class Inner:
        deep = 1

    _Hidden = Inner


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


@pytest.fixture
def root():
    below = module("root.below", Shown=Shown, number=2)
    made = module(
        "root", below=below, Shown=Shown, _hidden=4, number=1, flags=module("root.flags", cpp_flags=1, own=Shown.Inner)
    )
    below.back = made
    made.test = module("root.test", mock=module("mock", call=1))
    return made


def visited(visit_all, wrapped=lambda visit: visit):
    """{path: the names of children that are no dunder}, in the order of visits."""
    seen = {}

    def visit(path, parent, children):
        if "__" not in path:
            seen[path] = [name for name, _ in children if not name.startswith("__")]

    visit_all(wrapped(visit))
    return seen


def test_what_contains_itself_is_visited_once(root):
    seen = visited(lambda visit: traverse(root, visit))
    assert list(seen) == [
        *("", "Shown", "Shown.Inner", "Shown._Hidden", "below", "below.Shown", "below.Shown.Inner", "below.Shown._Hidden"),
        *("flags", "flags.own", "test", "test.mock"),
    ]
    assert seen[""] == ["Shown", "_hidden", "below", "flags", "number", "test"] and seen["below"] == [
        "Shown",
        "back",
        "number",
    ]
    assert visited(lambda visit: traverse(3, visit)) == {}


def test_what_a_visit_takes_out_is_not_visited(root):
    def only_shown(path, parent, children):
        children[:] = [(name, child) for name, child in children if name == "Shown"]
        paths.append(path)

    paths = []
    traverse(root, only_shown)
    assert paths == ["", "Shown"]


def test_public_names_of_tensorflow(root):
    visitors = []

    def public(visit):
        visitors.append(Visitor(visit))
        return visitors[-1]

    seen = visited(lambda visit: traverse(root, visit), public)
    assert seen[""] == ["Shown", "below", "flags", "number", "test"] and seen["Shown"] == ["Inner", "value"]
    assert list(seen) == ["", "Shown", "Shown.Inner", "below", "below.Shown", "below.Shown.Inner", "test"]
    visitor = visitors[-1]
    assert [visitor._is_private("tf", name) for name in ("_x", "__x__", "__class__", "__bases__")] == [
        True,
        False,
        True,
        False,
    ]
    assert visitor._is_private("tf.flags", "cpp_flags") and visitor._do_not_descend("tf", "core")


def test_maps_of_a_visitor_are_by_path(root):
    def changed(visit):
        visitor = Visitor(visit)
        visitor.set_root_name("other")
        visitor.private_map["other.below"] = ["Shown"]
        visitor.do_not_descend_map["other"] = ["flags"]
        return visitor

    seen = visited(lambda visit: traverse(root, visit), changed)
    assert seen["below"] == ["back", "number"] and "flags.own" not in seen and "test.mock" in seen


def test_modules_of_ours_are_private_in_a_namespace():
    def of_data(visit):
        visitor = Visitor(visit)
        visitor.set_root_name("tf.data")
        return visitor

    seen = visited(lambda visit: traverse(tf.data, visit), of_data)
    assert {"Dataset", "experimental"} < set(seen[""]) and "csv" not in seen[""] and "Counter" in seen["experimental"]
