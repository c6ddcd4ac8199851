"""What the tests of the program as a whole share: running it, and looking at what is left.

Each test is a method of a unittest.TestCase. LONG=1 in the environment makes the
random ones longer, each time with other numbers; SEED=N repeats them as they were.

Nothing here may hang on how quick the machine is, or how busy: what has to be there is
waited for, what has to be met at a random time is tried until it was met.
"""

import itertools
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import namedtuple

BARYON = os.environ.get("BARYON", os.path.abspath("build/baryon"))
MODELS = pathlib.Path(os.environ.get("MODELS", "build/zoo/models"))
LONG = os.environ.get("LONG", "") not in ("", "0")
SEED = int(os.environ.get("SEED", "0")) or (random.SystemRandom().randrange(1, 1 << 30) if LONG else 1)
SECONDS = 600  # what has not come by then never does

Done = namedtuple("Done", "status out err seconds cpu peak")


def environment(**changes):
    """The environment of the tests, plain; a change to None takes a variable out."""
    plain = {**os.environ, "LC_ALL": "C", **changes}
    for name in ("NO_COLOR", "CLICOLOR_FORCE", "BARYON_CONFIG"):
        plain.pop(name, None)
    return {name: value for name, value in plain.items() if value is not None}


def start(*words, prefix=(), **options):
    """The program, running; its streams are pipes unless options say something else.
    prefix: the words of a program that starts it."""
    options.setdefault("env", environment())
    for stream in ("stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([*prefix, BARYON, *words], **options)


def run(*words, **options):
    """Runs the program to its end. A negative status is the signal that ended it."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        options = {"stdout": out, "stderr": err, **options}
        process = start(*words, **options)
        late = time.monotonic() + SECONDS
        while True:
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > late:
                process.kill()
            time.sleep(0.001)
        process.returncode = os.waitstatus_to_exitcode(code)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read())
    seconds = time.monotonic() - begin
    cpu = usage.ru_utime + usage.ru_stime
    return Done(process.returncode, *texts, seconds, cpu, usage.ru_maxrss * 1024)


class Moment:
    """When a disturbance comes: at random while the program runs, which may take longer now than before."""

    def __init__(self, seconds):
        self.seconds = seconds

    def wait(self):
        time.sleep(random.uniform(0, self.seconds))

    def learn(self, late):
        """late: the program was done before."""
        self.seconds *= 0.8 if late else 1.05


def turns(met):
    """Numbers of turns until met() is true; how many that takes hangs on the machine."""
    late = time.monotonic() + SECONDS
    for turn in itertools.count():
        if met():
            return
        if time.monotonic() > late:
            raise AssertionError(f"not met in {turn} turns")
        yield turn


def wait_until(running, found):
    """Waits until found() is true; false when the program ended before."""
    late = time.monotonic() + SECONDS
    while not found():
        if running.poll() is not None:
            return False
        if time.monotonic() > late:
            raise AssertionError("what is waited for does not come")
        time.sleep(0.001)
    return True


def handles(running, number):
    """Whether the program has a handler for a signal by now."""
    with open(f"/proc/{running.pid}/status", encoding="ascii", errors="replace") as status:
        caught = next((line for line in status if line.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def limited(kind, value):
    """For Popen's preexec_fn: a limit of resource."""
    return lambda: resource.setrlimit(kind, (value, value))


def memory_folder():
    """Where files need no disk, when there is room for a few hundred MB; else None."""
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return None
    roomy = status.f_bavail * status.f_frsize > 1 << 30 and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if roomy else None


class Case(unittest.TestCase):
    """Has an empty folder of its own; relative paths of the tests are below it."""

    maxDiff = 2000
    quick = False  # short runs of the test may do without a disk

    def setUp(self):
        root = memory_folder() if self.quick and not LONG else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="process-", dir=root)).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def files(self, folder=None):
        """Names of all files, also hidden ones."""
        return sorted(os.listdir(folder or self.folder))

    def baryon(self, *words, status=0, **options):
        """Runs the program in the folder and expects a status; None takes any that is its own."""
        options.setdefault("cwd", self.folder)
        done = run(*words, **options)
        if status is None:
            self.assertIn(done.status, range(8), done.err)
            return done
        self.assertEqual(done.status, status, f"{words}: {done.err.decode(errors='replace')}")
        return done

    def assert_says(self, done, *texts):
        """One line of the program's own form, with these texts in it, but for how far it was."""
        lines = done.err.decode(errors="backslashreplace").splitlines()
        lines = [line for line in lines if not re.match(r"baryon: [\w ,]+: \d+ % \(", line)]
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("baryon: "), lines)
        for text in texts:
            self.assertIn(text, lines[0])


def main():
    print(f"SEED={SEED}", flush=True)
    random.seed(SEED)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    unittest.main(argv=[sys.argv[0], "--verbose", *sys.argv[1:]])
