# SPDX-License-Identifier: Apache-2.0
"""A file of unittest cases that runs the programs."""

def program_test(name, imports = [], size = "medium", tags = []):
    """The test of NAME.py, with the programs and what all tests share; `imports` are its other Python files."""
    native.sh_test(
        name = name,
        size = size,
        srcs = ["run_python.sh"],
        args = [name],
        data = [":shared", name + ".py"] + imports,
        tags = tags,
    )
