"""Functions that say once that they will go."""

import logging

import pytest

from tfexp.core import deprecation


@pytest.fixture
def said(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("tensorflow"), "propagate", True)
    return lambda: [record.getMessage() for record in caplog.records]


@deprecation.deprecated("2030-01-01", "Use another.")
def old(x):
    return x + 1


@deprecation.deprecated_args(None, "Leave it out.", "y", ("z", 3))
def partly(x, y=None, z=3):
    return x


def test_it_is_said_once(said):
    assert old(1) == old(1) == 2
    (message,) = said()
    assert message.startswith(f"From {__file__}:") and message.endswith(
        f" old (from {__name__}) is deprecated and will be removed after 2030-01-01.\n"
        "Instructions for updating:\nUse another."
    )


def test_arguments(said):
    assert partly(1) == partly(1, z=3) == 1 and said() == []
    partly(1, 2)
    partly(1, y=2)
    partly(1, z=4)
    calling = f"calling partly (from {__name__}) with "
    assert [message.partition(": ")[2].split(" is")[0] for message in said()] == [calling + "y", calling + "z"]
    with pytest.raises(ValueError, match=r"not present in the function signature: .'no'"):
        deprecation.deprecated_args(None, "Leave it out.", "no")(lambda x: x)


def test_values_of_arguments(said):
    @deprecation.deprecated_arg_values("2030-01-01", "Say no.", warn_once=False, y=True)
    def one(x, y=True):
        return x

    one(1, y=False), one(1, y=1)
    assert said() == []
    one(1), one(1, y=True)
    assert [" with y=True is deprecated" in message for message in said()] == [True, True]
    with deprecation.silence():
        one(1, y=True)
    assert len(said()) == 2


def test_what_will_go_says_so_in_its_text():
    @deprecation.deprecated(None, "Use another.")
    def of_old():
        """First line.

        More.
        """

    assert of_old.__doc__ == (
        "First line. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed in a future version.\n"
        "Instructions for updating:\nUse another.\n\nMore."
    )
    assert partly.__doc__.startswith("DEPRECATED FUNCTION ARGUMENTS\n\nWarning: SOME ARGUMENTS ARE DEPRECATED: `(y, z)`.")
    for date, instructions in (("07-04-2030", "x"), ("", "x"), ("2030-01-01", "")):
        with pytest.raises(ValueError, match=r"Date must be|without conversion instructions"):
            deprecation.deprecated(date, instructions)


def test_old_names(said):
    class Thing:
        def __init__(self, size):
            self.size = size

    old_thing = deprecation.deprecated_alias("old.Thing", "new.Thing", Thing)
    assert isinstance(old_thing(3), Thing) and old_thing(4).size == 4
    assert deprecation.deprecated_alias("old.old", "new.old", len)("ab") == 2
    assert [message.partition(": ")[2] for message in said()] == [
        f"The name old.{name} is deprecated. Please use new.{name} instead.\n" for name in ("Thing", "old")
    ]
    named = deprecation.deprecated_endpoints("a", "b")(Thing)
    assert named is Thing and Thing._tf_deprecated_api_names == ("a", "b")
    with pytest.raises(deprecation.DeprecatedNamesAlreadySet):
        deprecation.deprecated_endpoints("c")(Thing)


def test_nothing_is_said_in_silence(said):
    @deprecation.deprecated(None, "No.")
    def other(x):
        return x

    with deprecation.silence():
        assert other(partly(3, 2)) == 3
    assert said() == []
    other(1)
    assert len(said()) == 1


def test_one_of_two_names():
    assert deprecation.deprecated_argument_lookup("new", 1, "old", None) == 1
    assert deprecation.deprecated_argument_lookup("new", None, "old", 2) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 1, "old", 2)


def test_silence(said):
    with deprecation.silence():
        partly(1, 2)
        with deprecation.silence():
            pass
        partly(1, 2)
    assert said() == []


def test_a_notice_stands_behind_the_first_line():
    def with_notice(text):
        return deprecation.add_notice_to_docstring(text, "Use another.", "Nothing here", "(old)", ["It goes."])

    warning = "\n\nWarning: It goes.\nUse another."
    assert with_notice(None) == with_notice("") == f"Nothing here{warning}"
    assert with_notice("Brief") == f"Brief (old){warning}"
    assert with_notice("Brief\nMore") == with_notice("Brief\n\nMore\n") == f"Brief (old){warning}\n\nMore"
    with pytest.raises(ValueError, match="must not be empty"):
        deprecation.add_notice_to_docstring("Brief", "Use another.", "", "", [])
    renamed = deprecation.rewrite_argument_docstring("Add `a` and `b`.\n\na: one", "a", "left")
    assert renamed == "Add `left` and `b`.\n\nleft: one"


@pytest.mark.parametrize(
    "decorate",
    [
        deprecation.deprecated(None, "No."),
        deprecation.deprecated_args(None, "No.", "x"),
        deprecation.deprecated_arg_values(None, "No.", x=1),
    ],
)
def test_a_property_is_not_deprecated_from_outside(decorate):
    with pytest.raises(ValueError, match="make sure @property appears before @deprecated"):
        decorate(property(lambda self: 1))
