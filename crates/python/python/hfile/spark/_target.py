"""The directory that a job writes HFiles into.

::

    TARGET/FAMILY/NAME                            a whole HFile; NAME is 32 hex digits
    TARGET/_SUCCESS                               all files of all jobs are there
    TARGET/_temporary/JOB/ATTEMPT/FAMILY/NAME     of a job that has not committed

All attempts of tasks write below ``_temporary``. The commit, on the driver, moves the files of those that Spark chose.
A directory that has files and no ``_SUCCESS`` is of a job that ended while it committed.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import NamedTuple

SUCCESS = "_SUCCESS"
TEMPORARY = "_temporary"
_FILE_NAME = re.compile(r"[0-9a-f]{32}")


class Move(NamedTuple):
    """A file of an attempt that becomes one of the target directory."""

    attempt: str
    family: str
    name: str
    size: int


class Target:
    """The directory, for one job. It can be pickled."""

    def __init__(self, path: str, job: str, overwrite: bool) -> None:
        self.path = path
        self._job = os.path.join(path, TEMPORARY, job)
        self._overwrite = overwrite

    def begin(self) -> list[str]:
        """Makes the directories, on the driver. Returns the unfinished jobs that are there."""
        self._check()
        others = self._other_jobs()
        os.makedirs(self._job)
        return others

    def attempt(self, number: int) -> str:
        """Returns the directory of an attempt, which does not exist yet, on a worker."""
        if not os.path.isdir(self._job):
            raise FileNotFoundError(
                f"{self._job}: no such directory on this worker; the driver and all workers need the same file system "
                "at this path (or the job has ended)"
            )
        return os.path.join(self._job, str(number))

    def commit(self, moves: list[Move]) -> None:
        """Makes the files those of the directory, on the driver."""
        self._check()
        for move in moves:
            self._check_is_whole(move)
        has_files = bool(self._families())
        if moves or self._overwrite:
            # From the first change on until the last, the directory says that it is not whole.
            _remove_file(os.path.join(self.path, SUCCESS))
            _sync(self.path)
        if self._overwrite and has_files:
            for family in self._families():
                shutil.rmtree(os.path.join(self.path, family))
        for family in sorted({move.family for move in moves}):
            os.makedirs(os.path.join(self.path, family), exist_ok=True)
        for move in moves:
            os.rename(self._source(move), os.path.join(self.path, move.family, move.name))
        for family in {move.family for move in moves}:
            _sync(os.path.join(self.path, family))
        self._remove_job()
        if self._overwrite:
            for other in self._other_jobs():
                _remove_tree(other)
        _remove_empty(os.path.join(self.path, TEMPORARY))
        with open(os.path.join(self.path, SUCCESS), "ab") as success:
            os.fsync(success.fileno())
        _sync(self.path)

    def abort(self) -> None:
        """Removes what attempts left. Some may still write, and leave more."""
        self._remove_job()
        _remove_empty(os.path.join(self.path, TEMPORARY))

    def _check(self) -> None:
        """Refuses a directory with other files, and one that is not whole."""
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise NotADirectoryError(f"{self.path} is not a directory")
        families = self._families()
        is_whole = os.path.exists(os.path.join(self.path, SUCCESS))
        if families and not is_whole and not self._overwrite:
            raise FileExistsError(
                f"{self.path} has files without {SUCCESS}: a job ended while it committed them; remove the directory, "
                'or use mode("overwrite"), which replaces its files'
            )

    def _families(self) -> list[str]:
        """Returns the directories of families; refuses anything that no job makes."""
        families = []
        names = sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []
        for name in names:
            path = os.path.join(self.path, name)
            if name in (SUCCESS, TEMPORARY):
                continue
            if os.path.isdir(path):
                files = [os.path.join(name, file) for file in os.listdir(path)]
                foreign = [file for file in files if not _FILE_NAME.fullmatch(os.path.basename(file))]
            else:
                foreign = [name]
            if foreign:
                raise FileExistsError(
                    f"{os.path.join(self.path, foreign[0])} is not a part of a directory for bulk load; choose "
                    "another directory"
                )
            families.append(name)
        return families

    def _other_jobs(self) -> list[str]:
        temporary = os.path.join(self.path, TEMPORARY)
        names = sorted(os.listdir(temporary)) if os.path.isdir(temporary) else []
        jobs = [os.path.join(temporary, name) for name in names]
        return [job for job in jobs if job != self._job]

    def _source(self, move: Move) -> str:
        return os.path.join(self._job, move.attempt, move.family, move.name)

    def _check_is_whole(self, move: Move) -> None:
        path = self._source(move)
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path}: a task wrote this file, but the driver does not see it; the driver and all workers need the "
                "same file system at this path"
            ) from None
        if size != move.size:
            raise OSError(f"{path} has {size} bytes, but its task wrote {move.size}")

    def _remove_job(self) -> None:
        _remove_tree(self._job)


def _remove_tree(path: str) -> None:
    """Removes a directory, to which attempts that nobody needs may still add files."""
    for _ in range(3):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return


def _remove_empty(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass


def _remove_file(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _sync(directory: str) -> None:
    """Writes the names of a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
