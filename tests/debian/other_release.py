#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Compiles every unit, without code, with the headers and the compiler of another Debian release; a warning is an error.

    tests/debian/other_release.py --cache FOLDER 13

The release's tree is made by debootstrap and `./dev setup test` in FOLDER, and kept there. A build must
have put what it generates into bazel-bin. Prints each finding, and "N passed, M failed" at the end, one for each unit. Needs root and
debootstrap; without them it says so and passes nothing.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))

import build_files  # noqa: E402

CODENAMES = {"12": "bookworm", "13": "trixie"}
FLAGS = ("-std=c++20 -fsyntax-only -I. -iquote . -iquote generated -iquote bazel-bin -isystem generated/proto/api "
         "-isystem bazel-bin -Iclient/cpp/include -DBOOST_ASIO_NO_DEPRECATED -DSPDLOG_COMPILED_LIB -DSPDLOG_SHARED_LIB "
         "-DSPDLOG_FMT_EXTERNAL -Wall -Wextra -Werror -Wnon-virtual-dtor -Wimplicit-fallthrough "
         "-Wno-missing-field-initializers -Wno-subobject-linkage")
# Code for Verilator's designs, and for clang's fuzzer.
OTHERS = re.compile(r"tests/(rtl|fuzz|e2e)/")
PROGRESS_S = 15


def mirror():
    """The Debian mirror that this machine's apt uses."""
    lines = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI) $(CODENAME)",
                            "Identifier: Packages"], capture_output=True, text=True, check=True).stdout.split("\n")
    found = [line.split()[1] for line in lines if line.startswith("Debian ") and "-" not in line.split()[2]]
    return found[0] if found else None


def why_not():
    """Why no tree can be made here; nothing if it can."""
    if os.getuid() != 0:
        return "it needs root"
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
        return "this machine gives out no namespaces"
    return "" if mirror() else "apt knows no mirror of Debian"


def in_tree(tree, command, **options):
    """Runs a shell command in the tree, which has this repository, read-only, at /sideband."""
    output_base = os.path.realpath(ROOT / "bazel-out/../../..") if os.path.exists(ROOT / "bazel-out") else None
    binds = [(str(ROOT), "/sideband")] + ([(output_base, output_base)] if output_base else [])
    mounts = "".join('mkdir -p "{0}{2}"; mount --rbind -o ro "{1}" "{0}{2}"; '.format(tree, source, place)
                     for source, place in binds)
    script = mounts + 'mount -t proc proc "%s/proc"; exec chroot "%s" sh -euc "$0"' % (tree, tree)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"}
    if "http_proxy" in os.environ:
        environment["http_proxy"] = os.environ["http_proxy"]
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script, command],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          **options)


def make_tree(cache, release):
    """The folder of a tree with the packages that the tests are built with."""
    tree = cache / ("debian" + release)
    partial = cache / ("debian%s.partial" % release)
    if not tree.exists():
        print("   making a tree of Debian %s in %s" % (release, tree), flush=True)
        shutil.rmtree(partial, ignore_errors=True)
        result = subprocess.run(["debootstrap", "--variant=minbase", CODENAMES[release], partial, mirror()],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise SystemExit("%s\n0 passed, 1 failed" % result.stdout[-2000:])
        (partial / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")
        partial.rename(tree)
    print("   its packages: ./dev setup test", flush=True)
    result = in_tree(tree, "cd /sideband; ./dev setup test; apt-get clean")
    if result.returncode != 0:
        raise SystemExit("%s%s\n0 passed, 1 failed" % (result.stdout[-2000:], result.stderr[-2000:]))
    return tree


def generate(tree):
    """Messages by the release's own protoc."""
    result = in_tree(tree, "mkdir -p /generated/proto/api; cd /sideband; for file in $(cd proto/api; find . -name '*.proto'); do "
                           "protoc -I proto/api --cpp_out=/generated/proto/api --grpc_out=/generated/proto/api "
                           "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin $file; done")
    if result.returncode != 0:
        raise SystemExit("%s\n0 passed, 1 failed" % result.stderr)


def write_units(folder):
    """One unit for each library, program and test of the BUILD files; returns their names."""
    folder.mkdir(exist_ok=True)
    names = []
    for label, target in sorted(build_files.read_targets(ROOT).items()):
        sources = [source for source in target.sources if source.endswith(".cc") and (ROOT / source).exists()]
        if sources and not OTHERS.search(sources[0]):
            names.append(label.strip("/").replace("/", "_").replace(":", "_") + ".cc")
            (folder / names[-1]).write_text(build_files.unit_text(sources), encoding="utf-8")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cache", required=True, type=Path)
    parser.add_argument("release", choices=CODENAMES)
    arguments = parser.parse_args()
    reason = why_not()
    if reason:
        print("   skipped: %s\n0 passed, 0 failed" % reason)
        return 0
    tree = make_tree(arguments.cache, arguments.release)
    generate(tree)
    wanted, failed, done, reported = write_units(tree / "generated/units"), 0, 0, time.monotonic()
    flags = FLAGS.replace("generated", "/generated")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda unit: in_tree(tree, "cd /sideband; g++ %s /generated/units/%s" % (flags, unit)), wanted):
            done += 1
            if result.returncode != 0:
                failed += 1
                print("\n".join(line for line in result.stderr.splitlines() if "error:" in line), flush=True)
            if time.monotonic() - reported > PROGRESS_S:
                print("   %d of %d units" % (done, len(wanted)), flush=True)
                reported = time.monotonic()
    print("%d passed, %d failed" % (len(wanted) - failed, failed + (not wanted)))
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
