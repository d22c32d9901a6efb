"""The menus of `tensorflow.python.debug.cli.debugger_cli_common`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.stand_ins.debug_texts import RichTextLines


class MenuItem:
    """A command under a caption."""

    def __init__(self, caption: str, content: str, enabled: bool = True):
        self.caption, self.content, self._enabled = caption, content, enabled

    def is_enabled(self) -> bool:
        return self._enabled

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True


class Menu:
    """Items in order."""

    def __init__(self, name: str | None = None):
        self._name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        self._items.insert(index, item)

    def num_items(self) -> int:
        return len(self._items)

    def captions(self) -> list[str]:
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """LookupError for a caption that is not there."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(
        self,
        prefix: str | None = None,
        divider: str = " | ",
        enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:
        """One line of all captions. An item that is enabled is itself among the attributes of its segment."""
        line, segments = prefix or "", []
        for item in self._items:
            given = enabled_item_attrs if item.is_enabled() else disabled_item_attrs
            attributes = [given] if given and not isinstance(given, list) else list(given or ())
            attributes = [item, *attributes] if item.is_enabled() else attributes
            if attributes:
                segments.append((len(line), len(line) + len(item.caption), attributes))
            line += item.caption + divider
        return RichTextLines(line, {0: segments})
