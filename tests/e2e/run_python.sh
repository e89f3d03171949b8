#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of one Python file with the system's Python, which has Debian's packages, regardless of the PATH.
exec /usr/bin/python3 -B "$(dirname "$0")/runner.py" "$1"
