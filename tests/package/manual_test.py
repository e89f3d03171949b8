#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The manual pages are formatted without a warning, and the completions answer in their shells.

What is not installed (groff, zsh, fish) is skipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "deploy/manual")
PAGES = ("sideband.1", "sideband-mcu.1", "sidebandd.8")
PROGRAMS = ("sideband", "sideband-mcu", "sidebandd")
COMMANDS = ["devices", "events", "scopes", "get", "watch", "top", "unseal", "audit", "bus", "demo", "config", "i2cdev",
            "completion", "help"]

# (words of the command line, the last of which is completed; the completions that are expected among others)
CASES = (
    (["sideband", ""], COMMANDS),
    (["sideband", "wa"], ["watch"]),
    (["sideband", "get", "--form"], ["--format"]),
    (["sideband", "get", "--format", ""], ["table", "json", "csv"]),
    (["sideband", "get", "--format", "j"], ["json"]),
    (["sideband", "completion", "z"], ["zsh"]),
    (["sideband", "config", "init", "--d"], ["--dir"]),
    (["sideband", "bus", ""], ["trace"]),
    (["sideband", "bus", "trace", "--time", "h"], ["host"]),
    (["sideband", "--config", "get", "watch", "--inter"], ["--interval"]),  # a value with a command's name
    (["sideband", "get", "--address", "h:1", "--ca"], ["--ca-file"]),  # an option of the program, after the command
    (["sideband", "--config", "/etc/passw"], ["/etc/passwd"]),
    (["sideband", "audit", "verify", "/etc/passw"], ["/etc/passwd"]),
    (["sidebandd", "--che"], ["--check"]),
    (["sidebandd", "--config", "/etc/passw"], ["/etc/passwd"]),
    (["sideband-mcu", ""], ["replay", "serve", "describe", "peek-shm"]),
    (["sideband-mcu", "describe", "--format", ""], ["tree", "json"]),
)

BASH = """
source "$1" && shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"_${1//-/_}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

ZSH = r"""
zmodload zsh/zpty
zpty -b shell "zsh -f -i"
zpty -w shell "PS1=; stty -echo cols 999; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print rea''dy"
zpty -r shell out '*ready*'
zpty -w -n shell "$2"$'\t\t'
shown=
repeat 250; do
  while zpty -r -t shell out; do shown+=$out; done
  [[ $shown != *$3* ]] || break
  sleep 0.1
done
print -r -- "$shown"
zpty -d shell
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)


def needs(program):
    return unittest.skipUnless(shutil.which(program), "%s is not installed" % program)


class ManPagesTest(unittest.TestCase):
    @needs("groff")
    def test_no_warning(self):
        for page in PAGES:
            done = run("groff", "-ww", "-z", "-man", "-Tutf8", os.path.join(FOLDER, page))
            self.assertEqual((page, done.stderr, done.returncode), (page, "", 0))

    def test_sections(self):
        for page in PAGES:
            with open(os.path.join(FOLDER, page), encoding="ascii") as file:
                text = file.read()
            for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES", "SEE ALSO"):
                self.assertIn('.SH "%s"\n' % title, text, page)
        with open(os.path.join(FOLDER, "sideband.1"), encoding="ascii") as file:
            text = file.read()
        for command in COMMANDS:
            self.assertIn('.SS "sideband %s"\n' % command, text)


class CompletionsTest(unittest.TestCase):
    def check(self, complete):
        """`complete` returns the lines that a shell proposes for words."""
        for words, expected in CASES:
            with self.subTest(words=words):
                proposed = complete(words)
                self.assertLessEqual(set(expected), set(proposed), proposed)

    def test_bash(self):
        def complete(words):
            script = os.path.join(FOLDER, words[0] + ".bash")
            done = run("bash", "-c", BASH, "bash", script, *words)
            self.assertEqual(done.stderr, "")
            return done.stdout.split("\n")

        for program in PROGRAMS:
            self.assertEqual(run("bash", "-n", os.path.join(FOLDER, program + ".bash")).stderr, "")
        self.check(complete)

    def test_the_program_prints_the_same(self):
        program = os.path.join(FOLDER, "../../client/sideband")
        for shell, name in (("bash", "sideband.bash"), ("zsh", "_sideband"), ("fish", "sideband.fish")):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                self.assertEqual(run(program, "completion", shell).stdout, file.read(), shell)

    def test_bash_has_an_equals_sign_as_a_word(self):
        words = ["sideband", "get", "--format", "=", "c"]
        done = run("bash", "-c", BASH, "bash", os.path.join(FOLDER, "sideband.bash"), *words)
        self.assertEqual(done.stdout.split(), ["csv"])

    def test_bash_proposes_no_option_after_the_end_of_options(self):
        for words in (["sideband", "i2cdev", "--", "--h"], ["sideband", "get", "--vm", "--h"]):
            done = run("bash", "-c", BASH, "bash", os.path.join(FOLDER, "sideband.bash"), *words)
            self.assertEqual(done.stdout.split(), [], words)

    @needs("fish")
    def test_fish(self):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}

            def complete(words):
                script = os.path.join(FOLDER, words[0] + ".fish")
                done = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', script,
                           " ".join(words), env=environment)
                self.assertEqual(done.stderr, "")
                return [line.split("\t")[0] for line in done.stdout.split("\n")]

            for program in PROGRAMS:
                self.assertEqual(run("fish", "-n", os.path.join(FOLDER, program + ".fish"), env=environment).stderr, "")
            self.check(complete)

    @needs("zsh")
    def test_zsh(self):
        for program in PROGRAMS:
            self.assertEqual(run("zsh", "-n", os.path.join(FOLDER, "_" + program)).stderr, "")
        # One of each kind, since each takes seconds: a terminal shows what is proposed.
        for line, expected in (("sideband ", "Open sealed records"), ("sideband get --format ", "csv"),
                               ("sideband bus tr", "trace"), ("sideband-mcu describe --f", "--format")):
            with self.subTest(line=line):
                self.assertIn(expected, run("zsh", "-f", "-c", ZSH, "zsh", FOLDER, line, expected).stdout)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
