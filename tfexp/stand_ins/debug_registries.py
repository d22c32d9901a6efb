"""Commands and what completes them: the registries of `tensorflow.python.debug.cli.debugger_cli_common`. Source: TF 1.15."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.graph.versions import VERSION
from tfexp.stand_ins.debug_texts import RichTextLines

EXPLICIT_USER_EXIT = "explicit_user_exit"
HELP_INDENT = "  "


class CommandLineExit(Exception):  # noqa: N818 - TensorFlow's name
    """What a handler raises to end the program; exit_token is for whoever started it."""

    def __init__(self, exit_token: Any = None):
        super().__init__()
        self.exit_token = exit_token


def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    lines = [f"TensorFlow version: {VERSION}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


class CommandHandlerRegistry:
    """Handlers by the prefixes and aliases of their commands. `help` and `version` are there from the start."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES = ["ver"]

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[..., RichTextLines | None]] = {}
        self._helps: dict[str, str] = {}
        self._aliases: dict[str, list[str]] = {}
        self._prefixes: dict[str, str] = {}
        self._intro: RichTextLines | None = None
        self.register_command_handler(
            self.HELP_COMMAND, self._help_handler, "Print this help message.", prefix_aliases=self.HELP_COMMAND_ALIASES
        )
        self.register_command_handler(
            self.VERSION_COMMAND,
            self._version_handler,
            "Print the versions of TensorFlow and its key dependencies.",
            prefix_aliases=self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(
        self, prefix: str, handler: Callable[..., Any], help_info: str, prefix_aliases: Sequence[str] | None = None
    ) -> None:
        """handler(argv, screen_info=…) gives RichTextLines or None. ValueError for what is taken, empty or no such thing."""
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError(f'A handler is already registered for command prefix "{prefix}"')
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        aliases = list(prefix_aliases or ())
        for alias in aliases:
            if self.is_registered(alias):
                raise ValueError(f'The prefix alias "{alias}" clashes with existing prefixes or aliases.')
        self._handlers[prefix], self._helps[prefix], self._aliases[prefix] = handler, help_info, aliases
        self._prefixes.update(dict.fromkeys(aliases, prefix))

    def dispatch_command(self, prefix: str, argv: Sequence[str], screen_info: Any = None) -> RichTextLines | None:
        """What the handler gives, or the lines that tell of its error. ValueError for no handler, or not such a result."""
        if not prefix:
            raise ValueError("Prefix is empty")
        name = self._resolve_prefix(prefix)
        if name is None:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        handler = self._handlers[name]
        try:
            output = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # of a parser of arguments, that has told its reason already
            return RichTextLines([f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"'])
        except Exception as error:  # the user of the debugger reads it, and goes on
            told = [f"Error occurred during handling of command: {prefix} {' '.join(argv)}:", f"{type(error)}: {error}"]
            return RichTextLines([*told, "", *traceback.format_exc().split("\n")])
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(f"Return value from command handler {handler} is not None or a RichTextLines instance")
        return output

    def is_registered(self, prefix: str) -> bool:
        return self._resolve_prefix(prefix) is not None

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        """The help of one command, or of all in the order of their names, with the introduction before them."""
        if cmd_prefix:
            return RichTextLines(self._get_help_for_command_prefix(cmd_prefix))
        text = RichTextLines([])
        if self._intro:
            text.extend(self._intro)
        for prefix in sorted(self._handlers):
            text.extend(RichTextLines([*self._get_help_for_command_prefix(prefix), "", ""]))
        return text

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        self._intro = help_intro

    def _help_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(*args)

    def _version_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        return get_tensorflow_version_lines(include_dependency_versions=True)

    def _resolve_prefix(self, token: str) -> str | None:
        return token if token in self._handlers else self._prefixes.get(token)

    def _get_help_for_command_prefix(self, cmd_prefix: str) -> list[str]:
        prefix = self._resolve_prefix(cmd_prefix)
        if prefix is None:
            return [f'Invalid command prefix: "{cmd_prefix}"']
        aliases = [f"{HELP_INDENT}Aliases: {', '.join(self._aliases[prefix])}"] if self._aliases[prefix] else []
        return [prefix, *aliases, "", *(HELP_INDENT + line for line in self._helps[prefix].split("\n"))]


class TabCompletionRegistry:
    """What can follow a word, by that word: words that were registered together share it."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """TypeError for what is no list."""
        for name, given in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(given, list):
                raise TypeError(f"Incorrect type in {name}: Expected list, got {type(given)}")
        self._items.update(dict.fromkeys(context_words, sorted(comp_items)))

    def deregister_context(self, context_words: Sequence[str]) -> None:
        """KeyError for words that are not there; none goes then."""
        for word in context_words:
            if word not in self._items:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._items[word]

    def extend_comp_items(self, context_word: str, new_comp_items: Sequence[str]) -> None:
        items = self._of(context_word)
        items.extend(new_comp_items)
        items.sort()

    def remove_comp_items(self, context_word: str, comp_items: Sequence[str]) -> None:
        items = self._of(context_word)
        for item in comp_items:
            items.remove(item)

    def _of(self, context_word: str) -> list[str]:
        if context_word not in self._items:
            raise KeyError(f'Context word "{context_word}" has not been registered')
        return self._items[context_word]

    def get_completions(self, context_word: str, prefix: str) -> tuple[list[str] | None, str | None]:
        """(the items that begin so, what all of these begin with); (None, None) for a word that is not there."""
        if context_word not in self._items:
            return None, None
        found = sorted(item for item in self._items[context_word] if item.startswith(prefix))
        return found, os.path.commonprefix(found)  # noqa: RUF071 - of letters, not of paths


class CommandHistory:
    """The last `limit` commands, also those of earlier programs: they are kept in a file, by default in the home folder."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None):
        self._commands: list[str] = []
        self._limit = limit
        self._path = history_file_path or self._get_default_history_file_path()
        self._load_history_from_file()

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _load_history_from_file(self) -> None:
        if not os.path.isfile(self._path):
            return
        try:
            with open(self._path, encoding="utf-8") as file:
                commands = [line.strip() for line in file if line.strip()]
            self._commands = commands[-self._limit :]
            if len(commands) > self._limit:
                with open(self._path, "w", encoding="utf-8") as file:
                    file.writelines(f"{command}\n" for command in self._commands)
        except OSError as error:
            print(f"WARNING: the history of commands cannot be read: {error}")

    def _add_command_to_history_file(self, command: str) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{command}\n")
        except OSError as error:
            print(f"WARNING: the history of commands cannot be written: {error}")

    def add_command(self, command: str) -> None:
        """One that is the same as the last counts once. TypeError for what is no str."""
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        if self._commands[-1:] == [command]:
            return
        self._commands = [*self._commands, command][-self._limit :]
        self._add_command_to_history_file(command)

    def most_recent_n(self, n: int) -> list[str]:
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        """The last n that begin so."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]
