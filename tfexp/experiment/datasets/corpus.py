"""`data=corpus`: pairs of words that stand near each other in sentences of a small language, for `model=word2vec`.

The language is made up so that what an embedding should find is known: words of one group stand in the same places.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import bounded

__all__ = ["GROUPS", "Corpus"]

GROUPS = {
    "animal": ["cat", "dog", "fox", "hare", "horse", "mouse", "owl", "wolf"],
    "food": ["apples", "bread", "cheese", "fish", "honey", "nuts", "plums", "soup"],
    "person": ["anna", "boris", "clara", "david", "emma", "felix", "greta", "henry"],
    "city": ["athens", "berlin", "cairo", "dublin", "lisbon", "madrid", "oslo", "paris"],
    "colour": ["black", "blue", "brown", "green", "grey", "red", "white", "yellow"],
    "garment": ["boots", "cap", "cloak", "coat", "dress", "gloves", "scarf", "shirt"],
    "month": ["april", "august", "january", "july", "june", "may", "october", "september"],
    "weather": ["cloudy", "cold", "dry", "foggy", "mild", "rainy", "stormy", "sunny"],
}
"""The words that may take each other's places."""
_SENTENCES = (
    "the {animal} eats fresh {food} every morning",
    "a hungry {animal} finds {food} under the tree",
    "{person} buys a {colour} {garment} in {city}",
    "{person} wears a {colour} {garment} and travels to {city}",
    "in {month} the weather in {city} is {weather}",
    "a {weather} day in {month} makes {person} stay home",
    "{person} feeds the {animal} with {food}",
)


@dataclass(frozen=True, kw_only=True)
class Corpus(Source):
    """Each row is a word's number, with that of a word at most `window` places away as its label.

    The words are numbered from the most frequent one on.
    """

    sentences: int = bounded(least=2, says="of the text")
    window: int = bounded(least=1, says="how many places away a word may be from the one that it is paired with")
    text_seed: int = bounded(least=0, below=2**32, says="draws the sentences")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.standardize:
            raise SettingError("standardize", "the features are numbers of words, which have no mean: give false")

    def read(self) -> Table:
        text = self.text()
        words = vocabulary(text)
        number = {word: at for at, word in enumerate(words)}
        pairs = [
            (number[word], number[other])
            for sentence in text
            for at, word in enumerate(sentence)
            for other in (*sentence[max(0, at - self.window) : at], *sentence[at + 1 : at + 1 + self.window])
        ]
        centres, contexts = np.array(pairs, np.int64).T
        return Table(centres[:, None].astype(np.float64), contexts, ("word",), len(words), f"{len(text)} made-up sentences")

    def text(self) -> list[list[str]]:
        """The sentences' words."""
        # RandomState's streams are frozen by NumPy's compatibility policy; Generator's are not
        drawn = np.random.RandomState(self.text_seed)
        kinds = drawn.randint(len(_SENTENCES), size=self.sentences)
        picks = drawn.randint(min(map(len, GROUPS.values())), size=(self.sentences, len(GROUPS)))
        return [
            _SENTENCES[kind].format(**{name: GROUPS[name][at] for name, at in zip(GROUPS, pick, strict=True)}).split()
            for kind, pick in zip(kinds, picks, strict=True)
        ]


def vocabulary(text: list[list[str]]) -> list[str]:
    """The words of a text, the most frequent first, equally frequent ones by the alphabet."""
    counts = Counter(word for sentence in text for word in sentence)
    return sorted(counts, key=lambda word: (-counts[word], word))
