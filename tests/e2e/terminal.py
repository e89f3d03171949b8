# SPDX-License-Identifier: Apache-2.0
"""A terminal with a shell in it, by tmux: what a user types and sees.

    terminal = terminal_module.Terminal(folder, columns=80, rows=24)
    terminal.type("ls", "Enter")
    terminal.wait_for(r"\\$ ls\\n")
    terminal.close()
"""

import re

import programs

_FORMAT = "#{alternate_on} #{cursor_flag}"


class Terminal:
    """close() must always be called: pass it to addCleanup immediately. The shell runs in `folder`."""

    def __init__(self, folder, columns, rows, environment=None):
        self._folder = folder
        self._runs = 0
        self._environment = {"TERM": "screen-256color", **(environment or {})}
        # Not a daemon, so that it ends with the test; its sessions end with it.
        self._server = programs.Program("tmux", "-D", "-S", "tmux.sock", "-f", "/dev/null", cwd=folder,
                                        environment=self._environment)
        programs.wait_until(lambda: self._run("show-options", "-g").returncode == 0,
                            lambda: "the terminal\n" + self._server.log())
        self._tmux("set-option", "-g", "default-terminal", self._environment["TERM"])
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "/bin/sh")
        self.wait_for(r"\A[#$] ?")

    def _run(self, *arguments):
        return programs.run("tmux", "-S", "tmux.sock", *arguments, cwd=self._folder, environment=self._environment)

    def _tmux(self, *arguments):
        result = self._run(*arguments)
        if result.returncode != 0:
            raise AssertionError("tmux %s: %s" % (arguments, result.stderr))
        return result.stdout

    def type(self, *keys):
        """Keys by tmux's names, such as "Enter" and "C-c"; other words as they are."""
        self._tmux("send-keys", *keys)

    def text(self):
        return self._tmux("capture-pane", "-p")

    def styled_text(self):
        """With the escape sequences of attributes and colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def resize(self, columns, rows):
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def is_full_screen(self):
        """Whether the alternate screen is shown and the cursor is hidden; None if only one of the two is so."""
        alternate, cursor = self._tmux("display-message", "-p", _FORMAT).split()
        return None if alternate == cursor else alternate == "1"

    def wait_for(self, *patterns):
        """Waits until the screen matches all patterns at once, and returns it."""
        seen = [""]

        def matches():
            seen[0] = self.text()
            return all(re.search(pattern, seen[0]) for pattern in patterns)

        try:
            programs.wait_until(matches, "%s on the screen" % (patterns,))
        except AssertionError as error:
            raise AssertionError("%s:\n%s" % (error, seen[0])) from None
        return seen[0]

    def run(self, command):
        """Runs a command at the prompt and returns its exit status, once it has ended."""
        self._runs += 1
        self.type("clear; %s; echo ended-%d=$?" % (command, self._runs), "Enter")
        end = r"(?m)^ended-%d=(\d+)$" % self._runs
        return int(re.search(end, self.wait_for(end))[1])

    def close(self):
        self._server.kill()
