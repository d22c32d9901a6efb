"""What `--help` and `tfexp.explain` show: groups, choices and settings as a person reads them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tfexp.experiment.choices import Group, commands, of_runs
from tfexp.experiment.described import Composed, Described, describe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

__all__ = ["help_page", "overview", "show_group", "show_section", "show_setting", "written"]

_WIDTH = 118
"""Columns, at most; where there is no terminal, exactly."""
_KEYS = 50
"""Columns of a list's settings; a value that is longer is cut short."""
_EXPLAIN = "python -m tfexp.explain"


def console() -> Console:
    from rich.console import Console

    plain = Console(file=sys.stdout, highlight=False)
    width = min(plain.width, _WIDTH) if plain.is_terminal else _WIDTH
    return Console(file=sys.stdout, highlight=False, width=width)


def written(value: Any) -> str:
    """A value as the command line takes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{written(inner)}" for key, inner in value.items()) + "}"
    return "''" if value == "" else str(value)


def help_page(groups: Mapping[str, Group], composed: Composed, header: str, flags: Mapping[str, str], examples: str) -> None:
    """All of `--help`: groups with a line on each choice, settings of what is chosen, flags, other commands, examples."""
    page = console()
    page.print(_text(header, "bold"))
    page.print("\npython -m tfexp [group=choice …] [section.setting=value …] [flag …]", markup=False)

    page.print(_title("Groups", "group=choice; » is chosen unless something else is said"))
    page.print(_groups(groups.values(), composed.chosen))

    page.print(_title("Settings", f"section.setting=value, of these choices; {_EXPLAIN} KEY tells more"))
    page.print(_settings([setting for section in composed.kinds for setting in describe(composed, section)]))
    page.print(_table([(_text(f"{name}=…", "cyan"), _text(says)) for name, says in of_runs().items()], 44))

    page.print(_title("Flags", ""))
    page.print(_table([(_text(name, "cyan"), _text(says)) for name, says in flags.items()]))

    page.print(_title("Further commands", "each has --help"))
    page.print(_table([(_text(name, "cyan"), _text(says)) for name, says in commands()]))

    page.print(_title("Examples", ""))
    for line in examples.strip().splitlines():
        command, _, says = line.strip().partition("  ")
        # not wrapped: to be copied
        page.print(_text(f"{command:58}") + _text(f"  # {says.strip()}" if says else "", "dim"), soft_wrap=True)


def overview(groups: Mapping[str, Group], composed: Composed, plain: Iterable[Described]) -> None:
    """What can be explained: the groups in a line each, and the settings that belong to none."""
    from rich.table import Table

    page = console()
    page.print(_text(f"{_EXPLAIN} KEY [override …]", "bold"))
    page.print(_text("KEY is a group, a section, a setting (optimizer.learning_rate), or its last part (learning_rate).\n"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for head in ("group", "chosen", "what it says", "choices"):
        table.add_column(head, no_wrap=head in ("group", "chosen"), ratio=None)
    for group in groups.values():
        names = ", ".join(choice.name for choice in group.choices)
        chosen = composed.chosen.get(group.name) or ""
        table.add_row(_text(group.name, "cyan"), _text(chosen, "green"), _text(group.says), _text(names, "dim"))
    page.print(table)
    page.print(_title("Settings in no group", ""))
    page.print(_settings(plain))
    page.print(_table([(_text(f"{name}=…", "cyan"), _text(says)) for name, says in of_runs().items()], 44))


def show_group(group: Group, composed: Composed) -> None:
    """A group: its choices, what chose one of them, and the settings of that one."""
    page = console()
    chosen = composed.chosen.get(group.name) or ""
    page.print(_text(group.name, "bold cyan") + _text(f"  {group.says}"))
    if chosen:
        page.print(
            _text("chosen  ", "dim") + _text(chosen, "green") + _text(f", by {composed.origins.of_choice(group.name)}")
        )
    page.print(_title("Choices", f"{group.name}=…"))
    page.print(_choices(group, chosen))
    settings = describe(composed, group.name)
    if settings:
        page.print(_title(f"Settings of {group.name}={chosen}", settings[0].owner))
        page.print(_settings(settings))


def show_section(name: str, settings: list[Described]) -> None:
    """The settings of a section that is no group, or of an inner one."""
    page = console()
    page.print(_text(name, "bold cyan") + _text(f"  {name}.<setting>=<value>"))
    page.print(_settings(settings))


def show_setting(setting: Described, chosen: str, elsewhere: list[str]) -> None:
    """All that there is to say of one setting; `elsewhere` are the other choices of its group that have it, too."""
    page = console()
    page.print(_text(setting.key, "bold cyan") + _text(f"  {setting.says}" if setting.says else ""))
    value = _text("must be given", "red") if setting.is_missing else _text(written(setting.value), "green")
    rows = [("value", value), ("from", _text(setting.origin))]
    if setting.comes_to != setting.value:
        rows.insert(1, ("comes to", _text(written(setting.comes_to), "green")))
    if setting.default != setting.value:
        none = isinstance(setting.default, str) and setting.default == "???"
        rows.append(("default", _text("none: it must be given" if none else written(setting.default))))
    rows.append(("type", _text(setting.kind + (f", {setting.limits}" if setting.limits else ""))))
    rows.append(("belongs to", _text(setting.owner + (f" ({chosen})" if chosen else ""))))
    if elsewhere:
        rows.append(("also in", _text(", ".join(elsewhere))))
    rows.append(("give it with", _text(_word(setting))))
    page.print(_table([(_text(name, "dim"), content) for name, content in rows]))


def _word(setting: Described) -> str:
    """As a shell takes it."""
    return f"{setting.key}=<value>" if setting.is_missing else shlex.quote(f"{setting.key}={written(setting.value)}")


def _groups(groups: Iterable[Group], chosen: Mapping[str, str]) -> RenderableType:
    from rich.console import Group as Stack
    from rich.padding import Padding

    parts: list[RenderableType] = []
    for group in groups:
        parts.append(_text(group.name, "bold cyan") + _text(f"  {group.says}", "italic"))
        parts.append(Padding(_choices(group, chosen.get(group.name) or group.default), (0, 0, 0, 2)))
    return Stack(*parts)


def _choices(group: Group, chosen: str) -> RenderableType:
    rows = []
    for choice in group.choices:
        mark = "» " if choice.name == chosen else "  "
        rows.append((_text(f"{mark}{choice.name}", "green" if choice.name == chosen else ""), _text(choice.says)))
    return _table(rows, 20)


def _settings(settings: Iterable[Described]) -> RenderableType:
    rows = []
    for setting in settings:
        shown = written(setting.value)
        room = max(_KEYS - len(setting.key) - 1, 12)
        shown = shown if len(shown) <= room else f"{shown[: room - 1]}…"
        value = _text("???", "red") if setting.is_missing else _text(shown, "green")
        rows.append((_text(setting.key, "cyan") + _text("=", "dim") + value, _text(setting.says or setting.kind)))
    return _table(rows, 44)


def _title(title: str, says: str) -> Text:
    return _text(f"\n{title}", "bold") + _text(f"  {says}" if says else "", "dim")


def _table(rows: Iterable[tuple[Any, ...]], least: int = 0) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(min_width=least, overflow="fold")
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _text(content: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(content, style)
