"""The directory that a job writes HFiles into.

::

    TARGET/FAMILY/NAME                            a whole HFile; NAME is 32 hex digits
    TARGET/_SUCCESS                               all files of all jobs are there
    TARGET/_committing                            a job commits, or ended while it did; the file names it
    TARGET/_temporary/JOB/ATTEMPT/FAMILY/NAME     of a job that has not committed
    TARGET/_temporary/JOB/old/FAMILY              what a job replaces, until it has committed

All attempts of tasks write below ``_temporary``. The commit, on the driver, moves the files of those that Spark chose.
The directory is whole if, and only if, it has ``_SUCCESS``. ``_committing`` keeps two jobs from committing at a time:
its job holds a lock on it, which the system releases when the process dies. Mode overwrite replaces the one of a job
that died.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from typing import NamedTuple

SUCCESS = "_SUCCESS"
COMMITTING = "_committing"
TEMPORARY = "_temporary"
#: Names in a target directory that no family can have.
RESERVED = (SUCCESS, COMMITTING, TEMPORARY)
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
        self._name = job
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

    def check_family(self, family: str) -> None:
        """Refuses a family whose directory would have the name of a file of the target."""
        if family in RESERVED:
            raise ValueError(f"a family named {family} cannot be written: {self.path} has a file of that name")

    def commit(self, moves: list[Move]) -> None:
        """Moves the files into the directory, on the driver."""
        self._check()
        for move in moves:
            self.check_family(move.family)
            self._check_is_whole(move)
        lock = self._lock()
        try:
            self._check_again(moves)
            try:
                self._change(moves)
            except OSError as error:
                raise OSError(
                    f"{self.path}: the commit stopped after it had begun: {error}; files not yet moved are in "
                    f"{self._job}, and files that overwrite was replacing are in {os.path.join(self._job, 'old')}"
                ) from error
        finally:
            os.close(lock)
        # The commit is done: what cannot be removed does not make it fail.
        with contextlib.suppress(OSError):
            self._remove_job()
            _remove_empty(os.path.join(self.path, TEMPORARY))

    def abort(self) -> None:
        """Removes what attempts left. An attempt that still runs can write more files after this.

        What a commit has begun to move stays: its files may be the only copies.
        """
        if self._locked_by() != self._name:
            self._remove_job()
            _remove_empty(os.path.join(self.path, TEMPORARY))

    def _lock(self) -> int:
        """Creates ``_committing`` with this job's name, and returns its descriptor, which holds the lock."""
        path = os.path.join(self.path, COMMITTING)
        while True:
            try:
                lock, is_new = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666), True
            except FileExistsError:
                if not self._overwrite and not self._is_whole():
                    raise self._is_locked() from None
                lock, is_new = os.open(path, os.O_CREAT | os.O_RDWR, 0o666), False
            try:
                self._lock_file(lock, is_new)
                # Another job may have removed the file before this one had the lock.
                if _is_at(lock, path):
                    self._write_name(lock, is_new)
                    return lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)

    def _write_name(self, lock: int, is_new: bool) -> None:
        """Writes the name of this job into the file that it has locked."""
        try:
            os.truncate(lock, 0)
            os.write(lock, self._name.encode())
            os.fsync(lock)
            _sync(self.path)
        except BaseException:
            if is_new:
                _remove_file(os.path.join(self.path, COMMITTING))
            raise

    def _check_again(self, moves: list[Move]) -> None:
        """Refuses to commit, without a change, if another job has changed the directory before this one had the lock."""
        is_whole = self._is_whole() or not self._families()
        try:
            if not is_whole and not self._overwrite:
                raise self._is_not_whole()
            for move in moves:
                self._check_is_whole(move)
        except OSError:
            # What the other job left half done keeps its mark.
            if is_whole:
                _remove_file(os.path.join(self.path, COMMITTING))
            raise

    def _lock_file(self, lock: int, is_new: bool) -> None:
        """Takes the lock, which a job has while it commits."""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._is_locked() from None
        except OSError as error:
            # On a file system without locks, only one job can make the file.
            if not is_new:
                path = os.path.join(self.path, COMMITTING)
                raise OSError(
                    f"{path} cannot be locked: {error}; so nobody knows whether the job {self._locked_by()} still "
                    "commits; if it does not, remove this file and write again"
                ) from error

    def _locked_by(self) -> str | None:
        """Returns the job that commits."""
        try:
            with open(os.path.join(self.path, COMMITTING), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _is_locked(self) -> FileExistsError:
        return FileExistsError(
            f"{self.path} has {COMMITTING}: the job {self._locked_by()} commits there, or ended while it did; wait for "
            'it; if it has ended, remove the directory or use mode("overwrite"), which replaces its files'
        )

    def _change(self, moves: list[Move]) -> None:
        """Moves the files, and replaces those that are there if the mode is overwrite."""
        # From the first change on until the last, the directory says that it is not whole.
        _remove_file(os.path.join(self.path, SUCCESS))
        _sync(self.path)
        if self._overwrite:
            old = os.path.join(self._job, "old")
            os.makedirs(old, exist_ok=True)
            for family in self._families():
                os.rename(os.path.join(self.path, family), os.path.join(old, family))
        families = sorted({move.family for move in moves})
        for family in families:
            os.makedirs(os.path.join(self.path, family), exist_ok=True)
        for move in moves:
            os.rename(self._source(move), os.path.join(self.path, move.family, move.name))
        for family in families:
            _sync(os.path.join(self.path, family))
        _sync(self.path)
        with open(os.path.join(self.path, SUCCESS), "ab") as success:
            os.fsync(success.fileno())
        _sync(self.path)
        if self._overwrite:
            # While this job has the lock, none of the others commits.
            with contextlib.suppress(OSError):
                for other in self._other_jobs():
                    _remove_tree(other)
        _remove_file(os.path.join(self.path, COMMITTING))
        _sync(self.path)

    def _check(self) -> None:
        """Refuses a directory with other files, and one that is not whole."""
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise NotADirectoryError(f"{self.path} is not a directory")
        families = self._families()
        # Beside _SUCCESS, _committing is of a job that begins its commit, or that died when all was done.
        if self._overwrite or self._is_whole():
            return
        if self._locked_by() is not None:
            raise self._is_locked()
        if families:
            raise self._is_not_whole()

    def _is_not_whole(self) -> FileExistsError:
        return FileExistsError(
            f"{self.path} has files without {SUCCESS}: a job ended while it committed them; remove the directory, "
            'or use mode("overwrite"), which replaces its files'
        )

    def _is_whole(self) -> bool:
        return os.path.exists(os.path.join(self.path, SUCCESS))

    def _families(self) -> list[str]:
        """Returns the directories of families; refuses anything that no job makes."""
        families = []
        names = sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []
        for name in names:
            path = os.path.join(self.path, name)
            if name in RESERVED:
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


def _is_at(descriptor: int, path: str) -> bool:
    """Returns whether the open file is still that of the path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _sync(directory: str) -> None:
    """Writes the names of a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
