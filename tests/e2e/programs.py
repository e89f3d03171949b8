# SPDX-License-Identifier: Apache-2.0
"""The project's programs: run to their end, or kept running beside a test. None outlives the test, however it ends.

    result = programs.run("sideband", "devices", cwd=folder)
    with programs.Program("sidebandd", "--config", "sidebandd.yaml", cwd=folder) as daemon: ...
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

_RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
_PLACES = {
    "sidebandd": "daemon/sidebandd",
    "sideband-mcu": "secure_mcu/sideband-mcu",
    "sideband": "client/sideband",
}
# Generous: a loaded machine must not fail a test that only waits.
PATIENCE_S = 60


def runfile(path):
    return os.path.join(_RUNFILES, path)


def temporary_folder(add_cleanup):
    """A temporary folder with a path short enough for Unix sockets."""
    folder = tempfile.mkdtemp(prefix="sb-")
    add_cleanup(shutil.rmtree, folder)
    return folder


def program_path(program):
    return runfile(_PLACES[program])


def _command(program, arguments):
    path = program_path(program) if program in _PLACES else program
    # The kernel kills the program if the test dies without cleanup.
    return ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", path, *arguments]


# The user's configuration, language and proxy do not reach a test.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def run(program, *arguments, cwd, environment=None):
    """Runs a program to its end; its outputs are text."""
    return subprocess.run(_command(program, arguments), cwd=cwd, env={**_ENVIRONMENT, **(environment or {})},
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S, capture_output=True, text=True,
                          errors="surrogateescape", check=False)


def wait_until(condition, what, seconds=PATIENCE_S):
    """Polls until `condition()` is true and returns its value; else AssertionError with `what`, or with what it returns."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError("not within %d s: %s" % (seconds, what() if callable(what) else what))
        time.sleep(0.02)


def _with_sockets(command, sockets):
    """The command, as a service manager passes sockets: as descriptors from 3 on, and LISTEN_PID is its process."""
    moves = " ".join("%d<&%d" % (3 + i, one.fileno()) for i, one in enumerate(sockets))
    return ["/bin/sh", "-c", 'exec %s; export LISTEN_PID=$$; exec "$@"' % moves, "sh", *command]


class Program:
    """A program that runs in the background; its output goes to a log, named after it unless `log` is given. `sockets`
    are passed to it by name, as a service manager does."""

    def __init__(self, program, *arguments, cwd, environment=None, log=None, sockets=None):
        self.name = os.path.basename(program)
        self._log = os.path.join(cwd, log or self.name + ".log")
        command = _command(program, arguments)
        environment = {**_ENVIRONMENT, **(environment or {})}
        passed = []
        if sockets:
            passed = list(sockets.values())
            command = _with_sockets(command, passed)
            environment.update(LISTEN_FDS=str(len(passed)), LISTEN_FDNAMES=":".join(sockets))
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, pass_fds=[one.fileno() for one in passed])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def pid(self):
        return self._process.pid

    def log(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def ended(self):
        return self._process.poll() is not None

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self, seconds=PATIENCE_S):
        """Waits for the exit status; negative if a signal ended the program."""
        return self._process.wait(timeout=seconds)

    def stop(self, seconds=PATIENCE_S):
        """Sends SIGTERM; returns the exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        """Sends SIGKILL if the program still runs; this also ends a stopped program."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


class ProgramTestCase(unittest.TestCase):
    """Test cases with a temporary folder and checks of error messages."""

    def setUp(self):
        self.folder = temporary_folder(self.addCleanup)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def start(self, program, *arguments, environment=None):
        started = Program(program, *arguments, cwd=self.folder, environment=environment)
        self.addCleanup(started.kill)
        return started

    def assert_refused(self, result, status, start, *words, lines=1):
        """Exactly `lines` lines on standard error, the first of which begins with `start` and contains all `words`; no
        other output."""
        self.assertEqual(result.returncode, status, result)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\A([^\n]+\n){%d}\Z" % lines)
        self.assertTrue(result.stderr.startswith(start), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr.splitlines()[0])
