#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Checks each unit of the build with another Debian release's clang and headers; a warning is an error.

    tests/debian/other_release.py --cache FOLDER 13

The release's tree is made in FOLDER by debootstrap and `./dev setup test`, and kept there, as is what has passed: a
unit is compiled again when a file that it includes has changed, or the tree's packages. Prints each finding, and
"N passed, M failed" at the end, one for each unit; without root, debootstrap or a mirror it prints "skipped: WHY" instead.
"""

import argparse
import concurrent.futures
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fresh_tree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))

import build_files  # noqa: E402

COMPILE = ("clang++ -std=c++20 -fsyntax-only -iquote . -iquote /built -isystem /generated/proto/api "
           "-Iclient/cpp/include -DBOOST_ASIO_NO_DEPRECATED -DSPDLOG_COMPILED_LIB -DSPDLOG_SHARED_LIB "
           "-DSPDLOG_FMT_EXTERNAL -mavx2 -mavx512f -mavx512vpopcntdq -Wall -Wextra -Werror "
           "-Wnon-virtual-dtor -Wimplicit-fallthrough -Wthread-safety -Wno-missing-field-initializers -x c++ -")
GENERATE = ("mkdir -p /generated/proto/api; cd /sideband/proto/api; protoc -I . --cpp_out=/generated/proto/api "
            "--grpc_out=/generated/proto/api --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin "
            "$(find . -name '*.proto')")
# Code for Verilator's designs, and for clang's fuzzer.
LEFT_OUT = ("tests/lab/rtl", "tests/fuzz")
INCLUDE = re.compile(r'^(?:#include|import) ["<]([^">]+)[">]', re.MULTILINE)
PROGRESS_S = 15


def fail(text):
    raise SystemExit("%s\n0 passed, 1 failed" % text[-2000:])


class Tree:
    """A release's tree, which has this repository, read-only, at /sideband, and what its build generated at /built."""

    def __init__(self, cache, release):
        final = self.path = cache / ("debian" + release)
        if not final.exists():
            print("   making a tree of Debian %s in %s" % (release, final), flush=True)
            self.path = cache / ("debian%s.partial" % release)
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True)
            problem = fresh_tree.make(str(self.path), "--variant=minbase", release=release)
            if problem:
                fail(problem)
        # A run before this one may have been ended in the midst of it.
        self._must("dpkg --configure -a; cd /sideband; ./dev setup test; apt-get clean", "its packages")
        self.path = self.path.rename(final)
        self._must(GENERATE, "its messages")
        self.packages = self.run("dpkg-query --show").stdout

    def _must(self, command, what):
        print("   " + what, flush=True)
        result = self.run(command)
        if result.returncode != 0:
            fail(result.stdout + result.stderr)

    def run(self, command, text=""):
        """Runs a shell command there, which reads `text`."""
        script = ('mkdir -p "$1/sideband" "$1/built"; mount --bind -o ro "$2" "$1/sideband"; '
                  'mount --bind -o ro "$2/bazel-bin" "$1/built"; mount -t proc proc "$1/proc"; '
                  'exec chroot "$1" sh -euc "$3"')
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"}
        environment.update({name: os.environ[name] for name in ("http_proxy", "https_proxy") if name in os.environ})
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script, "sh",
                               self.path, ROOT, command],
                              env=environment, input=text, capture_output=True, text=True, check=False)


def with_includes(sources):
    """The texts of these sources and of the project's and generated files that they include, by their paths."""
    texts, wanted = {}, list(sources)
    while wanted:
        name = wanted.pop()
        path = next((path for path in (ROOT / name, ROOT / "bazel-bin" / name, ROOT / "client/cpp/include" / name,
                                       ROOT / "proto/api" / name, ROOT / "proto/api" / re.sub(r"(\.grpc)?\.pb\.h$", ".proto", name))
                     if path.is_file()), None)
        if path and name not in texts:
            texts[name] = path.read_text(encoding="utf-8")
            wanted += INCLUDE.findall(texts[name])
    return texts


def units_of(target):
    """{label: sources} of what the build compiles together; see cut_into_units in tests/analysis/analysis.bzl."""
    names = [name for name in target.sources if name.endswith(".cc") and (ROOT / name).exists()]
    if not target.in_units:
        return {name: [name] for name in names}
    rules = (ROOT / "tests/analysis/analysis.bzl").read_text(encoding="utf-8")
    most = int(re.search(r"^_UNIT_SOURCES = (\d+)$", rules, re.MULTILINE)[1])
    count = -(-len(names) // most)
    size = -(-len(names) // max(count, 1))
    return {"%s %d" % (target.label, first // size + 1): names[first:first + size]
            for first in range(0, len(names), size or 1)}


class Units:
    """What is compiled together, by the BUILD files; those that have passed before are empty files in `passed`."""

    def __init__(self, tree, passed):
        self._tree, self._passed = tree, passed
        passed.mkdir(exist_ok=True)
        self.sources = {}
        for target in build_files.read_targets(ROOT).values():
            if target.package not in LEFT_OUT:
                self.sources.update(units_of(target))

    def _stamp(self, label):
        texts = sorted(with_includes(self.sources[label]).items())
        key = repr((COMPILE, self._tree.packages, label, self.sources[label], texts))
        return self._passed / hashlib.sha256(key.encode()).hexdigest()

    def new(self):
        """The labels of those to compile, the largest first."""
        labels = sorted(self.sources, key=lambda label: -len(self.sources[label]))
        return [label for label in labels if not self._stamp(label).exists()]

    def compile(self, label):
        """What the compiler finds; nothing if it passes."""
        unit = "".join('#include "%s"\n' % source for source in self.sources[label])
        stamp = self._stamp(label)  # of what is read now: a source may change meanwhile
        result = self._tree.run("cd /sideband; " + COMPILE, unit)
        if result.returncode == 0:
            stamp.touch()
            return ""
        return "\n".join(line for line in result.stderr.splitlines() if "error" in line) or result.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cache", required=True, type=Path)
    parser.add_argument("release", choices=("12", "13"))
    arguments = parser.parse_args()
    reason = fresh_tree.why_not()
    if reason:
        print("skipped: " + reason)
        return 0
    if not (ROOT / "bazel-bin").exists():
        fail("bazel-bin: what the build generates is not there; ./dev test makes it")
    with open(arguments.cache / "debian.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return check(Tree(arguments.cache, arguments.release))


def check(tree):
    units = Units(tree, tree.path.with_suffix(".passed"))
    labels, failed, done, reported = units.new(), 0, 0, time.monotonic()
    print("   %d of %d units have passed before" % (len(units.sources) - len(labels), len(units.sources)), flush=True)
    # Tests run beside it.
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
        for findings in pool.map(units.compile, labels):
            done, failed = done + 1, failed + bool(findings)
            if findings:
                print(findings, flush=True)
            if time.monotonic() - reported > PROGRESS_S:
                print("   %d of %d units" % (done, len(labels)), flush=True)
                reported = time.monotonic()
    print("%d passed, %d failed" % (len(units.sources) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
