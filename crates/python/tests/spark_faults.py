"""The format ``faulty-files``: ``hbase-files``, in which the first attempt of the first task meets a fault.

A module of its own, because workers import it. Options: ``fault``, one of FAULTS; ``place``, where it happens; ``flag``,
a path that the first one creates, so that only one meets the fault. A slow attempt that was not killed creates the flag
with ``.ended``.
"""

import os
import pathlib
import signal
import time

from pyhfile.spark._options import Options
from pyhfile.spark._read import HFileReader
from pyhfile.spark._source import HBaseFiles
from pyhfile.spark._write import HFileWriter
from pyspark import TaskContext

FAULTS = ["exception", "worker", "executor"]


def meet(fault, flag):
    """Meets a fault, if nobody did before and this is the first task."""
    if TaskContext.get().partitionId() != 0:
        return
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if fault == "exception":
        raise RuntimeError("planned fault")
    if fault == "worker":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "executor":
        os.kill(executor(), signal.SIGKILL)
    if fault == "slow":
        # Longer than the job takes on a machine with other work.
        time.sleep(300)
        pathlib.Path(f"{flag}.ended").touch()
    time.sleep(10)


def executor():
    """The JVM that runs this worker."""
    return ancestor(lambda command: b"CoarseGrainedExecutorBackend" in command)


def ancestor(is_wanted):
    pid = os.getpid()
    while pid > 1:
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if is_wanted(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()):
            return pid
    raise AssertionError("no such process among those that began this one")


class Faulty:
    """A reader or writer with a fault."""

    fault = flag = place = None

    def plan(self, options):
        self.fault, self.place, self.flag = options["fault"], options["place"], options["flag"]
        return self

    def with_fault(self, batches):
        for batch in batches:
            yield batch
            if self.place == "within":
                meet(self.fault, self.flag)


class FaultyWriter(Faulty, HFileWriter):
    def write(self, iterator):
        attempt = super().write(self.with_fault(iterator))
        if self.place == "after":
            meet(self.fault, self.flag)
        return attempt

    def commit(self, messages):
        if self.fault == "driver":
            self._die_between_two_renames()
        super().commit(messages)

    def _die_between_two_renames(self):
        rename, done = os.rename, []
        # The JVM of the driver, and the Python program that began it.
        jvm = ancestor(lambda command: b"SparkSubmit" in command)
        program = ancestor(lambda command: b"run_job.py" in command)

        def rename_once(*paths):
            if done:
                for pid in (program, jvm, os.getpid()):
                    os.kill(pid, signal.SIGKILL)
                time.sleep(10)
            done.append(paths)
            rename(*paths)

        os.rename = rename_once


class FaultyReader(Faulty, HFileReader):
    def read(self, partition):
        yield from self.with_fault(super().read(partition))
        if self.place == "after":
            meet(self.fault, self.flag)


class FaultyFiles(HBaseFiles):
    @classmethod
    def name(cls):
        return "faulty-files"

    def reader(self, schema):
        faults, options = self._divided()
        return FaultyReader(options, schema).plan(faults)

    def writer(self, schema, overwrite):
        faults, options = self._divided()
        return FaultyWriter(options, schema, overwrite).plan(faults)

    def _divided(self):
        """The options of the fault, and those of `hbase-files`."""
        names = ("fault", "place", "flag")
        rest = {name: text for name, text in self.options.items() if name not in names}
        return {name: self.options.get(name) for name in names}, Options(rest)
