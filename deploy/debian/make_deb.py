#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes a Debian package of files; BUILD names them.

The same inputs give the same bytes: names in order, root's ownership, one date (that of the commit), fixed modes.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from release import Release  # noqa: E402
from tree import Tree  # noqa: E402

SCRIPTS = ("preinst", "postinst", "prerm", "postrm")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--control", required=True, help="control file with ${} for what is computed")
    parser.add_argument("--script", action="append", default=[], help="maintainer script, NAME.postinst or the like")
    parser.add_argument("--file", action="append", default=[], nargs="+", metavar=("DESTINATION", "FILE"),
                        help="where FILE is installed; a DESTINATION that ends in / keeps the names of its FILEs")
    parser.add_argument("--wheel", action="append", default=[], help="a wheel whose Python package is installed")
    parser.add_argument("--version-header", required=True)
    parser.add_argument("--changelog", required=True)
    parser.add_argument("--status", required=True, help="Bazel's stable-status.txt")
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def field(control, name):
    return re.search(r"^%s: (.*)$" % name, control, re.MULTILINE).group(1)


def install_files(arguments, tree):
    for destination, *sources in arguments.file:
        for source in sources:
            tree.install(source, destination + (os.path.basename(source) if destination.endswith("/") else ""))


def install_wheel(wheel, tree):
    """Unpacks a wheel where Debian's Python has packages. dpkg has a list of files and a copyright file of its own."""
    with zipfile.ZipFile(wheel) as content:
        for name in sorted(content.namelist()):
            if not name.endswith(("/", ".dist-info/RECORD", ".dist-info/LICENSE")):
                tree.write("/usr/lib/python3/dist-packages/" + name, content.read(name))


def shared_library_dependencies(tree, folder):
    """The packages of the libraries that the programs link, with the versions that they need; "" without programs."""
    if not tree.programs:
        return ""
    os.makedirs(os.path.join(folder, "debian"))
    # dpkg-shlibdeps expects to run in a source package.
    with open(os.path.join(folder, "debian/control"), "w", encoding="utf-8") as file:
        file.write("Source: sideband\n\nPackage: sideband\nArchitecture: any\n")
    programs = ["-e" + tree.place(path) for path in tree.programs]
    done = subprocess.run(["dpkg-shlibdeps", "-O", *programs], cwd=folder, check=True, capture_output=True, text=True)
    return re.search(r"^shlibs:Depends=(.*)$", done.stdout, re.MULTILINE).group(1)


def write_control(arguments, control, release, tree, folder):
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout
    values = {"version": release.debian, "architecture": architecture.strip(),
              "installed-size": str(tree.installed_kib()), "shlibs": shared_library_dependencies(tree, folder)}
    for name, value in values.items():
        control = control.replace("${%s}" % name, value)
    tree.write("/DEBIAN/control", control.encode())
    tree.write("/DEBIAN/md5sums", tree.md5sums().encode())
    if tree.conffiles():
        tree.write("/DEBIAN/conffiles", "".join(path + "\n" for path in tree.conffiles()).encode())
    for script in arguments.script:
        name = script.rsplit(".", 1)[1]
        assert name in SCRIPTS, script
        tree.write("/DEBIAN/" + name, read(script).encode(), executable=True)


def main():
    arguments = parse_arguments()
    changelog = read(arguments.changelog)
    release = Release(read(arguments.version_header), changelog, read(arguments.status))
    control = read(arguments.control)
    name = field(control, "Package")
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(os.path.join(folder, "tree"))
        install_files(arguments, tree)
        for wheel in arguments.wheel:
            install_wheel(wheel, tree)
        entry = release.changelog_entry("sideband", field(control, "Maintainer"))
        tree.write("/usr/share/doc/%s/changelog.Debian.gz" % name, entry.encode())
        tree.write("/usr/share/doc/%s/changelog.gz" % name, changelog.encode())
        write_control(arguments, control, release, tree, folder)
        tree.set_times(release.date)
        # One thread: how several divide the work would show in the compressed bytes.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", tree.root,
                        os.path.abspath(arguments.output)], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(release.date)})


if __name__ == "__main__":
    sys.exit(main())
