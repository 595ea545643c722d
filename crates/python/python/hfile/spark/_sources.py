"""What a frame is read from: a snapshot, a table, or HFiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from .._hfile import Source, open_hfile, open_snapshot, open_table
from ._options import Options, local_path
from ._schema import Layout


class Sources(NamedTuple):
    """The names of a source, which is opened while a query is planned."""

    root: Optional[str]
    snapshot: Optional[str]
    table: Optional[str]
    wal_root: Optional[str]
    path: Optional[str]

    @classmethod
    def of_options(cls, options: Options) -> Sources:
        """Takes the names of a source from options."""
        names = {name: options.text(name) for name in cls._fields}
        for name in ("root", "wal_root", "path"):
            text = names[name]
            names[name] = local_path(text) if text else None
        sources = cls(**names)
        kinds = [kind for kind in (sources.snapshot, sources.table, sources.path) if kind]
        needs_root = sources.path is None
        if len(kinds) != 1 or needs_root != bool(sources.root):
            raise ValueError(
                "a source is needed: the options root and snapshot, the options root and table, or the path of HFiles"
            )
        return sources

    def open(self, layout: Layout, arguments: dict[str, Any]) -> Iterator[Source]:
        """Opens what is read."""
        if self.snapshot is not None:
            yield open_snapshot(self.root or "", self.snapshot)
        elif self.table is not None:
            yield open_table(self.root or "", self.table, self.wal_root)
        else:
            for file in self._files(layout, is_raw=arguments["raw"]):
                yield open_hfile(file.path)

    def _files(self, layout: Layout, is_raw: bool) -> list[_File]:
        """Returns the files of a path that a frame needs."""
        files = [_File.of_path(path) for path in _paths(self.path or "")]
        if layout.has_columns:
            if len(layout.families) != 1:
                raise ValueError(
                    "columns of several families are in several files; read a table or a snapshot, or cells"
                )
            files = [file for file in files if file.family in layout.families]
        if not is_raw:
            _check_no_overlap(files)
        return files


class _File(NamedTuple):
    """An HFile; its names and limits are None if it has no cells."""

    family: Optional[bytes]
    first_row: Optional[bytes]
    last_row: Optional[bytes]
    path: str

    @classmethod
    def of_path(cls, path: str) -> _File:
        """Opens a file, and closes it: there can be more than a process may hold open."""
        with open_hfile(path) as file:
            return cls(file.family, file.first_row, file.last_row, path)


def _paths(path: str) -> list[str]:
    """Returns a file, or all files in a directory and below."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for directory, names, files in os.walk(path):
        # As Spark and Hadoop do: these are of jobs, and not data.
        names[:] = sorted(name for name in names if not name.startswith(("_", ".")))
        found += [os.path.join(directory, name) for name in sorted(files) if not name.startswith(("_", "."))]
    return found


def _check_no_overlap(files: list[_File]) -> None:
    """Refuses files that may have cells of the same row and family: no file has what HBase would show."""
    last: Optional[_File] = None
    for file in sorted(file for file in files if file.first_row is not None):
        if last is not None and last.family == file.family:
            assert file.first_row is not None and last.last_row is not None, "files with rows"
            if file.first_row <= last.last_row:
                raise ValueError(
                    f"{last.path} and {file.path} have rows in common, so that neither has what HBase would show; "
                    "read their table, or all their cells with the option raw"
                )
        last = file
