"""Calls that take long: samples, progress and Ctrl-C.

The library works without the interpreter's lock. Signals are only seen by the main thread while it
runs Python, so there the call is made on a thread of its own and the main thread waits. Whatever a
callback raises ends the call and is raised by it, the very same object.
"""

import ctypes
import threading

from . import _library, errors
from ._names import as_keywords


class Call:
    """One call, and what its callbacks need. progress: None shows it on a terminal; True, False;
    or a function of stage, done and total, which returns False to stop."""

    def __init__(self, progress=None, source=None, on_stop=None):
        self.library = _library.library()
        self.failure = None
        self.stopping = False
        self.hide = None
        self.on_stop = on_stop
        self.shown = _progress(progress)
        self.source = source
        self.log = _library.LOG(self._on_log)
        self._keep = (_library.PROGRESS(self._on_progress), self.log)

    def fill(self, options):
        """Callbacks into options of the library; returns them."""
        options.progress, options.log = self._keep
        if self.source is not None:
            options.samples = ctypes.pointer(self.source.struct(self))
        return options

    def fail(self, failure):
        """What a callback raised; the first one counts."""
        if self.failure is None:
            self.failure = failure

    def _on_progress(self, _, now):
        try:
            if not self.stopping and self.shown:
                stage = now.contents.stage.decode()
                self.stopping = self.shown(stage, now.contents.done, now.contents.total) is False
        except BaseException as failure:
            self.fail(failure)
            return False
        return not self.stopping

    def _on_log(self, _, text):
        import logging

        text = errors.in_python(text.decode("utf-8", "replace"))
        if self.hide:
            text = text.replace(f"{self.hide}: ", "").replace(self.hide, "the options")
        logging.getLogger("baryon").warning("%s", as_keywords(text))

    def run(self, name, *arguments, hide=None):
        """Calls the function of the library with these and an error behind them."""
        error = _library.ErrorStruct()
        function = getattr(self.library, name)
        outcome = []
        self.hide = hide

        def work():
            outcome.append(function(*arguments, ctypes.byref(error)))

        try:
            if threading.current_thread() is threading.main_thread():
                self._wait_for(work)
            else:
                work()
        finally:
            if self.shown and hasattr(self.shown, "close"):
                self.shown.close()
        if self.failure is not None:
            raise self.failure
        if outcome[0]:
            raise errors.from_struct(self.library, error, hide)

    def _wait_for(self, work):
        done = threading.Lock()
        done.acquire()

        def run():
            try:
                work()
            finally:
                done.release()

        # A daemon, so that a second Ctrl-C ends a program whose call does not come to an end.
        threading.Thread(target=run, name="baryon", daemon=True).start()
        try:
            while not done.acquire(timeout=0.5):
                pass
        except KeyboardInterrupt:
            self.stopping = True
            if self.on_stop:
                self.on_stop()
            done.acquire()
            raise


def _progress(wanted):
    import sys

    if callable(wanted):
        return wanted
    if wanted is None:
        wanted = sys.stderr is not None and sys.stderr.isatty()
    if not wanted:
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm)


class _Bar:
    """Progress by tqdm, a bar for each stage."""

    def __init__(self, tqdm):
        self.tqdm, self.stage, self.bar = tqdm, None, None

    def __call__(self, stage, done, total):
        if stage != self.stage:
            self.close()
            self.stage, self.bar = stage, self.tqdm(total=total or None, desc=stage, leave=False)
        self.bar.update(done - self.bar.n)

    def close(self):
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class _Line:
    """Progress as one line that is written anew."""

    def __call__(self, stage, done, total):
        import sys

        self.written = f"\r{stage}: {done} of {total or '?'}"
        sys.stderr.write(self.written + " " * 8)
        sys.stderr.flush()

    def close(self):
        import sys

        if hasattr(self, "written"):
            sys.stderr.write("\r" + " " * (len(self.written) + 8) + "\r")
            sys.stderr.flush()


def call(name, *arguments):
    """A short call that nobody interrupts."""
    library = _library.library()
    error = _library.ErrorStruct()
    if getattr(library, name)(*arguments, ctypes.byref(error)):
        raise errors.from_struct(library, error)
