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
# Files of DEBIAN that are read and not run, with ${} like the control file.
METADATA = ("shlibs", "triggers")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--control", required=True, help="control file with ${} for what is computed")
    parser.add_argument("--script", action="append", default=[],
                        help="maintainer script, NAME.postinst or the like, or other metadata, such as NAME.shlibs")
    parser.add_argument("--file", action="append", default=[], nargs="+", metavar=("DESTINATION", "FILE"),
                        help="where FILE is installed; a DESTINATION that ends in / keeps the names of its FILEs")
    parser.add_argument("--wheel", action="append", default=[], help="a wheel whose Python package is installed")
    parser.add_argument("--link", action="append", default=[], nargs=2, metavar=("PATH", "TARGET"),
                        help="a symbolic link; ${multiarch} in these paths is the architecture's folder of libraries")
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


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def install_files(arguments, tree):
    multiarch = output("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    for destination, *sources in arguments.file:
        destination = destination.replace("${multiarch}", multiarch)
        for source in sources:
            tree.install(source, destination + (os.path.basename(source) if destination.endswith("/") else ""))
    for path, target in arguments.link:
        tree.link(path.replace("${multiarch}", multiarch), target)


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
    found = output("dpkg-shlibdeps", "-O", *programs, cwd=folder)
    return re.search(r"^shlibs:Depends=(.*)$", found, re.MULTILINE).group(1)


def substitute(text, values):
    for name, value in values.items():
        text = text.replace("${%s}" % name, value)
    return text


def write_control(arguments, control, release, tree, folder):
    values = {"version": release.debian, "upstream": release.upstream,
              "architecture": output("dpkg", "--print-architecture").strip(),
              "installed-size": str(tree.installed_kib()), "shlibs": shared_library_dependencies(tree, folder)}
    tree.write("/DEBIAN/control", substitute(control, values).encode())
    tree.write("/DEBIAN/md5sums", tree.md5sums().encode())
    if tree.conffiles():
        tree.write("/DEBIAN/conffiles", "".join(path + "\n" for path in tree.conffiles()).encode())
    for script in arguments.script:
        name = script.rsplit(".", 1)[1]
        assert name in SCRIPTS + METADATA, script
        text = read(script) if name in SCRIPTS else substitute(read(script), values)
        tree.write("/DEBIAN/" + name, text.encode(), executable=name in SCRIPTS)


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
