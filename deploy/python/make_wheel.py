#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of the Python package with Debian's setuptools, without a network; BUILD names its files.

The same inputs give the same bytes: one date (that of the commit), names in order, fixed modes.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../debian"))
from release import Release  # noqa: E402

# The folder of the sources; generated ones are at the same place below Bazel's folder of outputs.
_ROOT = "client/python/"
_VERSION_FILE = "sideband/_version.py"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version-header", required=True)
    parser.add_argument("--changelog", required=True)
    parser.add_argument("--status", required=True, help="Bazel's stable-status.txt")
    parser.add_argument("--licence", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("files", nargs="+", help="each below " + _ROOT)
    return parser.parse_args()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lay_out(arguments, release, folder):
    places = [(source, source.partition(_ROOT)[2]) for source in arguments.files] + [(arguments.licence, "LICENSE")]
    for source, path in places:
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(source, place)
        os.chmod(place, 0o644)
    with open(os.path.join(folder, _VERSION_FILE), "w", encoding="utf-8") as file:
        file.write('VERSION = "%s"\n' % release.upstream)


def build_wheel(folder, release):
    """The wheel's path."""
    command = "from setuptools import build_meta; build_meta.build_wheel('dist')"
    done = subprocess.run([sys.executable, "-B", "-c", command], cwd=folder, capture_output=True, text=True,
                          check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(release.date)})
    if done.returncode != 0:
        sys.exit("setuptools failed:\n" + done.stdout + done.stderr)
    wheel, = os.listdir(os.path.join(folder, "dist"))
    return os.path.join(folder, "dist", wheel)


def main():
    arguments = parse_arguments()
    release = Release(read(arguments.version_header), read(arguments.changelog), read(arguments.status))
    # Modes of folders are in the wheel, too.
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        lay_out(arguments, release, folder)
        shutil.copyfile(build_wheel(folder, release), arguments.output)


if __name__ == "__main__":
    sys.exit(main())
