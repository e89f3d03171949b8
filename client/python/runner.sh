#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the unittest cases of a module of this folder with the system's Python, which has Debian's packages, regardless
# of the PATH. The folder is that of the test's own files, in which sources and generated modules are side by side.
cd "$(dirname "$0")" || exit
exec env PYTHONPATH="$PWD" /usr/bin/python3 -B -m unittest -v "$1"
