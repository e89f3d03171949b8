# SPDX-License-Identifier: Apache-2.0
"""The files of a package: stripped, compressed, and the same bytes on every machine and every day."""

import gzip
import hashlib
import os
import re
import subprocess

_ELF = b"\x7fELF"
_SHARED_LIBRARY = re.compile(r"\.so(\.\d+)*$")
# What Debian's own tools remove, too; the build id remains.
_STRIP = ("strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note")


class Tree:
    """A folder in which a package is laid out. Paths begin with a slash."""

    def __init__(self, root):
        self.root = root
        self.programs = []  # paths of what is linked

    def place(self, path):
        return os.path.join(self.root, path[1:])

    def install(self, source, path):
        """Copies a file; what is below a manual or named .gz is compressed, and programs are stripped."""
        with open(source, "rb") as file:
            content = file.read()
        self.write(path, content, executable=content.startswith((_ELF, b"#!")) and not _SHARED_LIBRARY.search(path))
        if content.startswith(_ELF):
            subprocess.run([*_STRIP, self.place(path)], check=True)
            self.programs.append(path)

    def write(self, path, content, executable=False):
        place = self.place(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(gzip.compress(content, 9, mtime=0) if path.endswith(".gz") else content)
        os.chmod(place, 0o755 if executable else 0o644)

    def link(self, path, target):
        """A symbolic link; a target without a slash is beside it."""
        os.makedirs(os.path.dirname(self.place(path)), exist_ok=True)
        os.symlink(target, self.place(path))

    def files(self):
        """All paths, links among them, sorted."""
        found = []
        for parent, _, names in os.walk(self.root):
            found += ["/" + os.path.relpath(os.path.join(parent, name), self.root) for name in names]
        return sorted(path for path in found if not path.startswith("/DEBIAN/"))

    def conffiles(self):
        return [path for path in self.files() if path.startswith("/etc/")]

    def md5sums(self):
        """The lines of DEBIAN/md5sums. dpkg has the sums of conffiles elsewhere."""
        lines = []
        for path in self.files():
            if path not in self.conffiles() and not os.path.islink(self.place(path)):
                with open(self.place(path), "rb") as file:
                    lines.append("%s  %s\n" % (hashlib.md5(file.read()).hexdigest(), path[1:]))
        return "".join(lines)

    def installed_kib(self):
        """As dpkg-gencontrol has it: each file rounded up, and one for each folder."""
        folders = sum(len(names) for parent, names, _ in os.walk(self.root) if "DEBIAN" not in parent)
        return folders + sum((os.lstat(self.place(path)).st_size + 1023) // 1024 for path in self.files())

    def set_times(self, date):
        """Gives every file, folder and the root one date, and folders one mode."""
        for parent, _, names in os.walk(self.root, topdown=False):
            for name in names:
                os.utime(os.path.join(parent, name), (date, date), follow_symlinks=False)
            os.chmod(parent, 0o755)
            os.utime(parent, (date, date))
