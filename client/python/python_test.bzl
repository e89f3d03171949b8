# SPDX-License-Identifier: Apache-2.0
"""Unit tests of the package."""

def python_test(name, imports = [], size = "small"):
    """The unittest cases of NAME.py, with the package and Debian's Python; `imports` are its other Python files."""
    native.sh_test(
        name = name,
        size = size,
        srcs = ["runner.sh"],
        args = [name],
        data = [
            name + ".py",
            ":sideband",
        ] + imports,
    )
