"""Texts, commands and menus of `tensorflow.python.debug.cli.debugger_cli_common`. Recorded from TensorFlow 1.15."""

from __future__ import annotations

import pytest

from tfexp.stand_ins.debug_menus import Menu, MenuItem
from tfexp.stand_ins.debug_registries import CommandHandlerRegistry, CommandHistory, CommandLineExit, TabCompletionRegistry
from tfexp.stand_ins.debug_texts import (
    REGEX_MATCH_LINES_KEY,
    RichLine,
    RichTextLines,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)


def _roses():
    return RichTextLines(
        ["Roses are red", "Violets are blue", "c"],
        {0: [(0, 5, "red")], 1: [(0, 7, "blue")]},
        {0: "long", 1: "s", "k": 5},
    )


def _parts(text):
    return text.lines, text.font_attr_segs, text.annotations


def test_segments_and_notes_move_with_their_lines():
    more = RichTextLines(["z"], {0: [(0, 1, "g")]}, {0: "q", "k": 6})
    assert _parts(_roses().slice(1, 9)) == (["Violets are blue", "c"], {0: [(0, 7, "blue")]}, {0: "s", "k": 5})
    behind = _roses()
    behind.extend(more)
    assert behind.font_attr_segs[3] == [(0, 1, "g")] and behind.annotations == {0: "long", 1: "s", "k": 6, 3: "q"}
    before = _roses()
    before._extend_before(more)
    assert before.lines[:2] == ["z", "Roses are red"] and before.font_attr_segs[2] == [(0, 7, "blue")]
    assert before.annotations == {1: "long", 2: "s", "k": 6, 0: "q"}
    with pytest.raises(ValueError, match="negative"):
        _roses().slice(-1, 3)
    with pytest.raises(ValueError, match="Unexpected type"):
        RichTextLines(3)


def test_lines_are_joined_of_segments():
    joined = RichLine("ab", "red") + RichLine("cd", ["x", "y"]) + "e"
    assert joined.font_attr_segs == [(0, 2, "red"), (2, 4, ["x", "y"])] and len(joined) == 5
    made = rich_text_lines_from_rich_line_list(["plain", joined])
    assert made.lines == ["plain", "abcde"] and list(made.font_attr_segs) == [1]
    with pytest.raises(TypeError, match="concatenated"):
        joined + 3


def test_matches_are_marked_in_a_copy():
    text = _roses()
    found = regex_find(text, "are", "green")
    assert found.font_attr_segs[1] == [(0, 7, "blue"), (8, 11, "green")]
    assert found.annotations[REGEX_MATCH_LINES_KEY] == [0, 1]
    assert text.font_attr_segs[1] == [(0, 7, "blue")] and REGEX_MATCH_LINES_KEY not in text.annotations
    with pytest.raises(ValueError, match="Invalid regular expression"):
        regex_find(text, "[", "green")


def test_long_lines_are_wrapped_with_their_segments():
    segments = {0: [(0, 5, "red"), (3, 9, "b"), (10, 13, "c")], 2: [(9, 10, "x"), (2, 8, "y")]}
    text = RichTextLines(["Roses are red", "", "abcdefghij"], segments, {0: "A", 2: "C", "k": 1})
    wrapped, begins = wrap_rich_text_lines(text, 5)
    assert wrapped.lines == ["Roses", " are ", "red", "", "abcde", "fghij"] and begins == [0, 3, 4]
    assert wrapped.font_attr_segs == {
        0: [(0, 5, "red"), (3, 5, "b")],
        1: [(0, 4, "b")],
        2: [(0, 3, "c")],
        4: [(2, 5, "y")],
        5: [(4, 5, "x"), (0, 3, "y")],
    }
    assert wrapped.annotations == {0: "A", 4: "C", "k": 1}
    with pytest.raises(ValueError, match="at least 1"):
        wrap_rich_text_lines(text, 0)


def _fails(args, screen_info=None):
    raise ValueError("boom")


def _leaves(args, screen_info=None):
    raise CommandLineExit(exit_token="token")


def _commands():
    registry = CommandHandlerRegistry()
    registry.register_command_handler(
        "noop", lambda argv, screen_info=None: RichTextLines(f"{argv} {screen_info}"), "Noop\n more", prefix_aliases=["n"]
    )
    registry.register_command_handler("fails", _fails, "")
    registry.register_command_handler("leaves", _leaves, "")
    registry.register_command_handler("number", lambda argv, screen_info=None: 3, "")
    return registry


def test_commands_go_to_their_handlers():
    registry = _commands()
    assert registry.dispatch_command("n", ["a"], {"cols": 3}).lines == ["['a'] {'cols': 3}"]
    assert registry.dispatch_command("h", ["n"]).lines == ["noop", "  Aliases: n", "", "  Noop", "   more"]
    assert registry.get_help().lines[:3] == ["fails", "", "  "]
    told = registry.dispatch_command("fails", ["x"]).lines
    assert told[:3] == ["Error occurred during handling of command: fails x:", "<class 'ValueError'>: boom", ""]
    with pytest.raises(CommandLineExit) as left:
        registry.dispatch_command("leaves", [])
    assert left.value.exit_token == "token"
    for command, message in (("", "Prefix is empty"), ("zz", "No handler"), ("number", "not None or a RichTextLines")):
        with pytest.raises(ValueError, match=message):
            registry.dispatch_command(command, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", _fails, ""), "Empty command prefix"),
        (("noop", _fails, ""), "already registered"),
        (("new", 1, ""), "not callable"),
        (("new", _fails, 1), "not a str"),
        (("new", _fails, "", ["n"]), "clashes"),
    ],
)
def test_commands_that_cannot_be_registered(arguments, message):
    with pytest.raises(ValueError, match=message):
        _commands().register_command_handler(*arguments)


def test_words_are_completed():
    registry = TabCompletionRegistry()
    registry.register_tab_comp_context(["node_info", "ni"], ["node_b", "node_a:0", "node_a:1"])
    assert registry.get_completions("ni", "node_a") == (["node_a:0", "node_a:1"], "node_a:")
    assert registry.get_completions("ni", "z") == ([], "") and registry.get_completions("q", "z") == (None, None)
    registry.extend_comp_items("ni", ["aa"])
    assert registry.get_completions("node_info", "a") == (["aa"], "aa")
    registry.deregister_context(["ni"])
    with pytest.raises(KeyError, match="has not been registered"):
        registry.remove_comp_items("ni", ["aa"])
    with pytest.raises(TypeError, match="Expected list"):
        registry.register_tab_comp_context("ab", ["a"])


def test_the_last_commands_outlive_the_program(tmp_path):
    path = tmp_path / "history"
    history = CommandHistory(limit=3, history_file_path=str(path))
    for command in ("help", "run", "help 2", "exit", "exit"):
        history.add_command(command)
    assert history.most_recent_n(9) == ["run", "help 2", "exit"] and history.lookup_prefix("he", 5) == ["help 2"]
    assert CommandHistory(limit=2, history_file_path=str(path)).most_recent_n(9) == ["help 2", "exit"]
    assert path.read_text() == "help 2\nexit\n"
    with pytest.raises(TypeError, match="non-str"):
        history.add_command(3)


def test_menus_are_lines():
    water, tea = MenuItem("water", "w"), MenuItem("tea", "t", enabled=False)
    menu = Menu()
    menu.append(tea)
    menu.insert(0, water)
    line = menu.format_as_single_line("Menu: ", ", ", enabled_item_attrs="underline", disabled_item_attrs="red")
    assert line.lines == ["Menu: water, tea, "]
    assert line.font_attr_segs == {0: [(6, 11, [water, "underline"]), (13, 16, ["red"])]}
    assert menu.captions() == ["water", "tea"] and menu.caption_to_item("tea") is tea
    with pytest.raises(LookupError, match="no menu item"):
        menu.caption_to_item("coffee")
