"""What unpickling calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

from ._hfile import Scan, Source, Split, Store, open_store


def scan_of(source: Source, arguments: dict[str, Any]) -> Scan:
    """Prepares a scan again."""
    return source.scan(**arguments)


def scan_of_split(split: Split) -> Scan:
    """Prepares the scan of a split again."""
    return split.scan()


def store_at(path: Path, cache_bytes: Optional[int]) -> Store:
    """Opens a store again."""
    return open_store(path, cache_bytes=cache_bytes)
