"""The options of the format, which Spark hands over as text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Optional, TypeVar
from urllib.parse import unquote, urlsplit

_Value = TypeVar("_Value")


class Options:
    """Options by name. Each is taken once; what nobody took is unknown."""

    def __init__(self, options: Mapping[str, str]) -> None:
        # Spark's mapping ignores the case of names.
        self._texts = {name.lower(): text for name, text in options.items()}
        self._known: set[str] = set()

    def text(self, name: str) -> Optional[str]:
        """Returns the text of an option, or None."""
        self._known.add(name)
        return self._texts.get(name.lower())

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """Returns those of some options that are given."""
        found = {name: self.text(name) for name in names}
        return {name: text for name, text in found.items() if text is not None}

    def integer(self, name: str) -> Optional[int]:
        """Returns an integer."""
        return self._parsed(name, int, "an integer")

    def boolean(self, name: str) -> bool:
        """Returns whether an option is ``true``; by default it is not."""
        known = {"true": True, "false": False}
        return bool(self._parsed(name, lambda text: known[text.lower()], "true or false"))

    def names(self, name: str) -> Optional[list[str]]:
        """Returns names separated by commas, or in a JSON array."""

        def parse(text: str) -> list[str]:
            names = json.loads(text) if text.startswith("[") else text.split(",")
            return [str(one) for one in names]

        return self._parsed(name, parse, "names separated by commas, or a JSON array of names")

    def mapping(self, name: str) -> Optional[dict[str, str]]:
        """Returns a JSON object whose values are text."""

        def parse(text: str) -> dict[str, str]:
            found = json.loads(text)
            if not isinstance(found, dict) or not all(isinstance(to, str) for to in found.values()):
                raise ValueError(text)
            return found

        return self._parsed(name, parse, 'a JSON object such as {"info:age": "int32"}')

    def check_all_known(self) -> None:
        """Refuses options that nobody asked for, such as misspelt ones."""
        known = {name.lower() for name in self._known}
        for name in self._texts:
            if name not in known:
                raise ValueError(f"unknown option {name}; known are {', '.join(sorted(self._known))}")

    def _parsed(self, name: str, parse: Callable[[str], _Value], kind: str) -> Optional[_Value]:
        text = self.text(name)
        if text is None:
            return None
        try:
            return parse(text)
        except (ValueError, KeyError):
            raise ValueError(f"option {name} must be {kind}, not {text}") from None


def local_path(text: str) -> str:
    """Returns an absolute path, of a path or of a ``file:`` URI."""
    if text.startswith("file:"):
        return os.path.abspath(unquote(urlsplit(text).path))
    if "://" in text:
        scheme = text.split(":", 1)[0]
        raise ValueError(
            f"{text}: {scheme} is not read or written; use a directory of a file system that the driver and all "
            "workers have mounted at the same path"
        )
    return os.path.abspath(text)
