# SPDX-License-Identifier: Apache-2.0
"""The commands of a page of docs/, and a shell of a machine that runs them.

A page has its commands in blocks of `sh`, all of whose commands succeed, and of `console`, where each follows the
prompt `# ` and may be followed by what it prints. There, `…` stands for any lines, and a number for any number. A
command with the mark `# needs …` is run only where that is available.
"""

import os
import re
import select
import subprocess
import time

import programs

_FENCE = re.compile(r"^( *)```(\w*)$")
_MARK = re.compile(r"  # needs (.*)$")


class Step:
    """A command: `text` without its mark, `output` as lines (None if the page shows none), `needs` (of the mark, or
    None)."""

    def __init__(self, section, text, output=None):
        self.section = section
        self.needs = (_MARK.search(text) or [None, None])[1]
        self.text = _MARK.sub("", text)
        self.output = output


def blocks(page):
    """[(section, language, lines)] of the page's text."""
    found, section, fence = [], "", None
    for line in page.splitlines():
        match = _FENCE.match(line)
        if fence is None and match:
            fence, language, lines = match[1], match[2], []
        elif fence is not None and line == fence + "```":
            found.append((section, language, lines))
            fence = None
        elif fence is not None:
            lines.append(line.removeprefix(fence))
        elif line.startswith("#"):
            section = line.lstrip("# ")
    return found


def _is_complete(command):
    """As the shell decides: after the end of a function or a here-document, not within."""
    parsed = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    return not command.endswith("\\") and (parsed.returncode, parsed.stderr) == (0, "")


def _script(section, lines):
    commands = [""]
    for line in lines:
        commands[-1] += line
        commands[-1:] = [commands[-1], ""] if _is_complete(commands[-1]) else [commands[-1] + "\n"]
    return [Step(section, command) for command in commands if command.strip()]


def _console(section, lines):
    found = []
    for line in lines:
        if line.startswith("# "):
            found.append(Step(section, line[2:]))
        else:
            found[-1].output = (found[-1].output or []) + [line]
    return found


def steps(page):
    readers = {"sh": _script, "console": _console}
    return [step for section, language, lines in blocks(page) if language in readers
            for step in readers[language](section, lines)]


_VARIABLE = (
    (r"\x1b\[[0-9;]*m", ""),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[A-Z]+)?\b", "TIME"),
    (r"\b[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d( \w+)?(?= )", "TIME"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) TIME", "TIME"),
    (r"\b[0-9a-f]{16,}\b", "HEX"),
    (r"TIME \S+ (\S+)\[\d+\]", r"TIME HOST \1[PID]"),
    (r"/usr/lib/systemd/", "/lib/systemd/"),  # Debian 13's and 12's
    (r"\bsnapshot \d+", "snapshot NUMBER"),
    (r"\b\d+(\.\d+)? ?(us|ms|s|min|h)\b( \d+(\.\d+)?(us|ms|s|min)\b)*", "DURATION"),
    (r"(?<!\w)[+-]?(\d[\d,]*\.\d+|\d[\d,]+)(e[+-]?\d+)?", "NUMBER"),
    (r"NUMBER [kMGT](/s)", r"NUMBER \1"),
    (r"\s+", " "),
)


def shape(line):
    """The line without what differs from run to run: times, identifiers, numbers of more than one digit."""
    for pattern, replacement in _VARIABLE:
        line = re.sub(pattern, replacement, line)
    return line.strip()


def matches(shown, printed):
    """Whether the lines on the page have the shape of the lines that were printed."""
    pattern = ""
    for line in shown:
        if line == "…":
            pattern += r"(?:.*\n)*?"
        elif line.endswith("…"):
            pattern += re.escape(shape(line[:-1])) + r".*\n"
        else:
            pattern += re.escape(shape(line)) + r"\n"
    return re.fullmatch(pattern, "".join(shape(line) + "\n" for line in printed)) is not None


class Shell:
    """A shell in which a command sees what those before it have set."""

    def __init__(self, machine, environment=None):
        values = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "TZ": "UTC",
                  "DEBIAN_FRONTEND": "noninteractive", **(environment or {})}
        self._process = machine.open("env", "-i", *("%s=%s" % item for item in values.items()), "bash", "--norc",
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.run("cd")

    def run(self, command, seconds=programs.PATIENCE_S):
        """(exit status, lines of both outputs)"""
        self._process.stdin.write(("{\n%s\n} </dev/null\nprintf '\\n@%%d\\n' $?\n" % command).encode())
        self._process.stdin.flush()
        lines = self._read(command, seconds).splitlines()
        return int(lines[-1][1:]), [line for line in lines[:-1] if line]

    def _read(self, command, seconds):
        deadline, text = time.monotonic() + seconds, ""
        while not re.search(r"\n@\d+\n\Z", text):
            if not select.select([self._process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError("not within %d s: %s\n%s" % (seconds, command, text))
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                raise AssertionError("the shell ended: %s\n%s" % (command, text))
            text += more.decode(errors="replace")
        return text

    def close(self):
        self._process.kill()
        self._process.communicate()
