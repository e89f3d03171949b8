#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes the root file system of the image from a tree of unpacked packages: removes what the programs do not load, and
adds the user, its folders and the default configuration. Needs the right to chroot.

    finish_tree.py --config sidebandd.yaml TREE PACKAGE.deb…
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile

PROGRAMS = ("/usr/bin/sideband", "/usr/bin/sidebandd")
# Above the numbers that distributions use, so that it is no other user's of the host.
USER = 19877
_KEPT = (*PROGRAMS, "/etc/debian_version", "/etc/os-release", "/usr/lib/os-release", "/etc/sideband/policy.yaml",
         "/usr/share/doc/sideband/sideband.spdx.json", "/usr/share/doc/sideband/third-party-licences.txt")
_OF_THE_RUNTIME = ("/dev", "/proc", "/sys")
# (path, owner, mode); empty, and for mounts
_FOLDERS = (("/run", 0, 0o755), ("/tmp", 0, 0o1777), ("/etc/sideband/tls", 0, 0o755), ("/run/sideband", USER, 0o750),
            ("/var/lib/sideband", USER, 0o750), ("/var/log/sideband", USER, 0o750))
_PASSWD = ("root:x:0:0:root:/:/usr/sbin/nologin\n"
           "sideband:x:%d:%d:Sideband telemetry:/var/lib/sideband:/usr/sbin/nologin\n" % (USER, USER))
_GROUP = "root:x:0:\nsideband:x:%d:\n" % USER


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True, help="the daemon's default configuration")
    parser.add_argument("tree")
    parser.add_argument("packages", nargs="+", help="what is unpacked in TREE")
    return parser.parse_args()


class Package:
    """A .deb: its control fields, and its files by their real paths in a system with a merged /usr."""

    def __init__(self, path):
        self.control = subprocess.run(["dpkg-deb", "--field", path], check=True, capture_output=True, text=True).stdout
        self.name = re.search(r"^Package: (\S+)$", self.control, re.MULTILINE)[1]
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as tar, \
                tarfile.open(fileobj=tar.stdout, mode="r|") as members:
            self.files = [re.sub(r"^\.(/lib)", r"./usr\1", member.name)[1:] for member in members if not member.isdir()]

    def licences(self):
        """Debian's copyright file, which may be that of another package, and the licences that such files refer to."""
        common = [path for path in self.files if path.startswith("/usr/share/common-licenses/")]
        return chain("/usr/share/doc/%s/copyright" % self.name) + common


def chain(path):
    """The links on the way to a file, and the file itself."""
    parts = path.strip("/").split("/")
    for count in range(1, len(parts) + 1):
        link = "/" + "/".join(parts[:count])
        if os.path.islink(link):
            target = os.path.join(os.path.dirname(link), os.readlink(link), *parts[count:])
            return [link] + chain(os.path.normpath(target))
    return [path]


def loader_of(program):
    with open(program, "rb") as file:
        return re.search(rb"/lib\w*/ld-linux[\w.-]*", file.read())[0].decode()


def loaded_files():
    """The libraries that the programs load, and the loader itself."""
    found = set()
    for program in PROGRAMS:
        listed = subprocess.run([loader_of(program), "--list", program], check=True, capture_output=True, text=True).stdout
        for path in re.findall(r"/\S+", listed):
            found.update(chain(path))
    return found


def remove_all_but(kept, path="/"):
    if path in _OF_THE_RUNTIME:
        return
    if not os.path.isdir(path) or os.path.islink(path):
        if path not in kept:
            os.remove(path)
        return
    for name in os.listdir(path):
        remove_all_but(kept, os.path.join(path, name))
    if not os.listdir(path):
        os.rmdir(path)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)


def make_folders():
    for path, owner, mode in _FOLDERS:
        os.makedirs(path, exist_ok=True)
        os.chown(path, owner, owner)
        os.chmod(path, mode)


def main():
    arguments = parse_arguments()
    with open(arguments.config, encoding="utf-8") as file:
        config = file.read()
    packages = [Package(path) for path in arguments.packages]
    os.chroot(arguments.tree)
    os.chdir("/")
    os.umask(0o022)
    kept = {*_KEPT, *loaded_files()}
    present = [package for package in packages if kept.intersection(package.files)]
    for package in present:
        kept.update(package.licences())
    remove_all_but(kept)
    for package in present:
        # Where scanners look for the packages of an image without dpkg.
        write("/var/lib/dpkg/status.d/" + package.name, package.control)
    for path, text in (("/etc/passwd", _PASSWD), ("/etc/group", _GROUP), ("/etc/sideband/sidebandd.yaml", config)):
        write(path, text)
    make_folders()


if __name__ == "__main__":
    sys.exit(main())
