"""What the benches share: running programs in turns, and telling what came out."""

import json
import multiprocessing
import os
import platform
import shutil
import statistics
import signal
import subprocess
import sys
import tempfile
import threading
import time


def run(command, timeout=None, folder=None):
    """Runs it to its end: seconds, those of processors, peak MiB and what it printed as JSON.

    A failure ends the bench; with a timeout it is told as "failed".
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=folder)
        alarm = threading.Timer(timeout, child.kill) if timeout else None
        if alarm:
            alarm.start()
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        if alarm:
            alarm.cancel()
        errors.seek(0)
        complaint = errors.read().decode(errors="replace")
    seconds = time.perf_counter() - start
    if status and timeout:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return {"failed": "not done in the seconds of processors that it had"}
        late = os.WIFSIGNALED(status) and seconds >= timeout
        lines = complaint.strip().splitlines() or ["no reason given"]
        return {"failed": f"not done in {timeout} s" if late else f"failed: {lines[-1][:150]}"}
    if status:
        sys.exit(f"{' '.join(command)}\nfailed with status {status}:\n{complaint[-3000:]}")
    return {"wall": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024, **parse(text.decode())}


def apart(function, *given):
    """Calls it in a process of its own: the peak memory of a child begins with what its parent holds."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, given)


def parse(text):
    """JSON, behind whatever else a peer prints."""
    if text.startswith("{"):
        return json.loads(text)
    return json.loads(text.splitlines()[-1]) if text else {}


def in_turns(jobs, rounds, warm=True):
    """Every job once a round, one after the other; a round before them only warms up."""
    results = {name: [] for name in jobs}
    for number in range(rounds + warm):
        for name, command in jobs.items():
            result = run(command)
            if number >= warm:
                results[name].append(result)
    return results


def lay_out(samples, count, folder):
    """So many samples in a folder, from the first on again where there are fewer."""
    os.makedirs(folder)
    for number in range(count):
        source, place = os.path.realpath(samples[number % len(samples)]), os.path.join(folder, f"{number:05}.npz")
        try:
            os.link(source, place)
        except OSError:
            shutil.copy(source, place)
    return folder


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def ratios(results, upper, lower, key):
    """Round by round, so that what disturbs a round disturbs both."""
    return [u[key] / l[key] for u, l in zip(results[upper], results[lower])]


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def version(python, package):
    """Of a package in another environment, None when it is not there."""
    code = f"import importlib.metadata as m; print(m.version('{package}'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True) if os.path.exists(python) else None
    return done.stdout.strip() if done and not done.returncode else None
