#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Generates the messages and stubs of the package, beside their .proto files, with Debian's protoc and plugin.

    generate_messages.py --root proto/api --package sideband._proto --output DIR FILE.proto…

protoc's modules import each other by their paths below the import root, which is no package that Python could find.
Those imports, and no other text, get the name of the package. A descriptor keeps its file's name, so that a program may
also load modules of its own of the same files.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What protoc and the plugin write for a file a/b/c.proto: "from a.b import c_pb2 as a_dot_b_dot_c__pb2".
_IMPORT = re.compile(r"^(from )(?P<package>[\w.]+)( import )(?P<module>\w+_pb2)( as \w+)$", re.MULTILINE)
# Any other form in which a module can be imported.
_ANY_IMPORT = re.compile(r"^\s*(?:from|import)\s+(?P<package>[\w.]+)", re.MULTILINE)


class UnknownImport(ValueError):
    """An import that this program does not know how to rewrite."""


def rewrite_imports(text, package, modules):
    """`text` with imports of `modules` ("sideband.v1.telemetry_pb2") as those of `package`.

    UnknownImport if one of them is imported in another form than that of Debian's protoc.
    """
    def replace(match):
        if "%s.%s" % (match["package"], match["module"]) not in modules:
            return match[0]
        return "%s%s.%s%s%s%s" % (match[1], package, match["package"], match[3], match["module"], match[5])

    rewritten = _IMPORT.sub(replace, text)
    roots = {module.partition(".")[0] for module in modules}
    for match in _ANY_IMPORT.finditer(rewritten):
        named = match["package"]
        if named.partition(".")[0] in roots and not (named + ".").startswith(package + "."):
            raise UnknownImport("cannot rewrite the import of %s" % named)
    return rewritten


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the import root of the files")
    parser.add_argument("--package", required=True, help="the Python package below which the modules are installed")
    parser.add_argument("--output", required=True)
    parser.add_argument("files", nargs="+", help="below the root")
    return parser.parse_args()


def module_name(path):
    return path[:-len(".proto")].replace("/", ".") + "_pb2"


def main():
    arguments = parse_arguments()
    paths = [os.path.relpath(file, arguments.root) for file in arguments.files]
    modules = {module_name(path) for path in paths}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/protoc", "-I" + arguments.root, "--python_out=" + folder,
                        "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin", "--grpc_out=" + folder, *paths],
                       check=True)
        for path, source in zip(paths, arguments.files):
            os.makedirs(os.path.join(arguments.output, os.path.dirname(path)), exist_ok=True)
            shutil.copyfile(source, os.path.join(arguments.output, path))
            for kind in ("_pb2.py", "_pb2_grpc.py"):
                generated = path[:-len(".proto")] + kind
                with open(os.path.join(folder, generated), encoding="utf-8") as file:
                    text = rewrite_imports(file.read(), arguments.package, modules)
                with open(os.path.join(arguments.output, generated), "w", encoding="utf-8") as file:
                    file.write(text)


if __name__ == "__main__":
    sys.exit(main())
