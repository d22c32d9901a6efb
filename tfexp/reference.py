"""`python -m tfexp.reference [NAME …] [out=FOLDER]`: what public names are: signatures and descriptions.

  NAME          a name (tf.nn.relu), which is described, or a namespace (tf.nn), whose names are listed; without any,
                the namespaces
  out=FOLDER    writes it all as Markdown: a page for each namespace, and one for every setting of a run

It is made of the docstrings of what is installed.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from tfexp.documented import Documented, documented, namespaces
from tfexp.experiment.cli import reported
from tfexp.experiment.errors import ExperimentError, SettingError, no_such
from tfexp.usage import helped, while_read

_USAGE = "usage: python -m tfexp.reference [NAME ...] [out=FOLDER]"
_WRITTEN = "Written by `python -m tfexp.reference`."


def main(argv: list[str] | None = None) -> int:
    """Show, or write, the reference; the status is 2 for a name that there is not."""
    words = sys.argv[1:] if argv is None else argv
    if (code := helped(words, _USAGE, __doc__)) is not None:
        return code
    return reported(lambda: _refer(words))


def _refer(words: list[str]) -> int:
    folders = [word.removeprefix("out=") for word in words if word.startswith("out=")]
    names = [word for word in words if not word.startswith("out=")]
    if folders and (names or len(folders) > 1 or not folders[0]):
        raise SettingError("out", "give one folder, and no names: all of it is written")
    if folders:
        _write(pages(), Path(folders[0]))
        print(f"wrote {folders[0]}")
    for name in names:
        print(_shown(name if name.partition(".")[0] == "tf" else f"tf.{name}"))
    if not words:
        print(_overview())
    return 0


# ---- in the terminal


def _overview() -> str:
    width = max(map(len, documented()))
    return "\n".join(f"{space:{width}}  {len(names):4}  {_says(space)}" for space, names in documented().items())


def _shown(name: str) -> str:
    """A namespace's names, each with its first line, or all that there is to say of one name."""
    if name in documented():
        names = documented()[name].values()
        return "\n".join(f"{one.name}{one.signature}\n    {one.first_line}" for one in names)
    space, _, last = name.rpartition(".")
    one = documented().get(space, {}).get(last)
    if one is None:
        if space in documented():
            raise SettingError("", no_such(f"name in {space} called", last, documented()[space]))
        raise SettingError("", no_such("namespace", space, documented()))
    if one.same_as:
        return f"{one.name} is {one.same_as}\n\n{_shown(one.same_as)}"
    inside = [f"\n.{member.name.rpartition('.')[2]}{member.signature}\n    {member.first_line}" for member in one.members]
    return "\n".join([f"{one.name}{one.signature}", "", one.text, *inside])


# ---- as Markdown


def pages() -> dict[str, str]:
    """File name -> content: `README.md`, a page for each namespace, and `settings.md`."""
    from tfexp.experiment.settings_page import settings_page

    spaces = documented()
    index = [
        "# Reference",
        "",
        _WRITTEN,
        "",
        "- [Every setting of a run](settings.md), group by group",
        "- The public names of `import tfexp as tf`, namespace by namespace:",
        "",
        "| namespace | names | |",
        "|---|---|---|",
        *(f"| [{space}]({space}.md) | {len(names)} | {_cell(_says(space))} |" for space, names in spaces.items()),
    ]
    written = {"README.md": "\n".join(index) + "\n", "settings.md": settings_page()}
    anchors = {space: _anchors(names.values()) for space, names in spaces.items()}
    for space, names in spaces.items():
        lines = [f"# {space}", "", _prose(namespaces()[space].__doc__ or ""), "", "| name | |", "|---|---|"]
        lines += [f"| {_link(one, anchors, space)} | {_cell(one.first_line)} |" for one in names.values()]
        for one in names.values():
            if not one.same_as:
                lines += ["", *_section(one)]
        written[f"{space}.md"] = "\n".join(lines) + "\n"
    return written


def _section(one: Documented) -> list[str]:
    lines = [f"## {one.name}", ""]
    if one.signature:
        call = textwrap.wrap(f"{one.name}{one.signature}", 110, subsequent_indent="    ", break_on_hyphens=False)
        lines += ["```python", *call, "```", ""]
    lines.append(_prose(one.text))
    if one.members:
        lines += ["", "| | |", "|---|---|"]
        for member in one.members:
            last = member.name.rpartition(".")[2]
            lines.append(f"| `{_in_cell(last + member.signature)}` | {_cell(member.first_line)} |")
    return lines


def _anchors(names: Iterable[Documented]) -> dict[str, str]:
    """name -> what a link to its section ends in: small letters without dots; the second of the same gets a number."""
    seen: Counter[str] = Counter()
    anchors = {}
    for one in names:
        if not one.same_as:
            plain = one.name.lower().replace(".", "")
            anchors[one.name] = f"{plain}-{seen[plain]}" if seen[plain] else plain
            seen[plain] += 1
    return anchors


def _link(one: Documented, anchors: Mapping[str, Mapping[str, str]], here: str) -> str:
    at = one.same_as or one.name
    space = at.rpartition(".")[0]
    page = "" if space == here else f"{space}.md"
    last = one.name.rpartition(".")[2]
    return f"[`{last}`]({page}#{anchors[space][at]})"


def _says(space: str) -> str:
    """The first paragraph of a namespace's docstring, after its name."""
    says = " ".join((namespaces()[space].__doc__ or "").partition("\n\n")[0].split())
    return re.sub(r"^(`tf[\w.]*`|tfexp)[:.] *", "", says)


def _prose(text: str) -> str:
    """A docstring as Markdown: what it would take for markup is plain, but for `code` and indented blocks."""
    return "\n".join(line if line.startswith("    ") else _escaped(line) for line in text.strip().splitlines())


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([*<\[\]])", r"\\\1", part) for part in parts)


def _cell(line: str) -> str:
    return _in_cell(_escaped(line))


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _write(content: Mapping[str, str], folder: Path) -> None:
    """Raises ExperimentError if the folder holds what is not a reference, or cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in folder.iterdir()}
        index = folder / "README.md"
        if there and not (index.is_file() and _WRITTEN in index.read_text(encoding="utf-8")):
            raise ExperimentError(f"{folder} holds something else than a reference: give another folder")
        for name, text in content.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name in there - set(content):
            (folder / name).unlink()
    except OSError as error:
        raise ExperimentError(f"cannot write {folder}: {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(while_read(main))
