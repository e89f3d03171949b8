# SPDX-License-Identifier: Apache-2.0
"""A new tree of a Debian release, by default this machine's, from the mirror that its apt uses.

    reason = fresh_tree.why_not()          # why there can be none here, or None
    fresh_tree.make(folder, "--variant=minbase")
    fresh_tree.make(folder, "--variant=minbase", release="13")
"""

import os
import shutil
import subprocess

_CODENAMES = {"12": "bookworm", "13": "trixie"}


def _own_release():
    with open("/etc/os-release", encoding="utf-8") as file:
        values = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return values.get("VERSION_ID", "").strip('"')


def _mirror():
    """The address of Debian's main archive; None without one."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI) $(CODENAME)",
                             "Identifier: Packages"], capture_output=True, text=True, check=False).stdout
    uris = [line.split()[1] for line in listed.splitlines() if line.startswith("Debian ") and "-" not in line.split()[2]]
    return uris[0] if uris else None


def why_not():
    if os.getuid() != 0:
        return "it needs root"
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed"
    if _own_release() not in _CODENAMES or not _mirror():
        return "this is no Debian 12 or 13 with a mirror"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "this machine gives out no namespaces"


def make(folder, *options, release=None):
    """Returns what debootstrap printed last if it failed, else None."""
    os.chmod(folder, 0o755)  # it is the tree's "/", which every user must read
    # Processes and mounts of its own, which end with it.
    command = ["debootstrap", *options, _CODENAMES[release or _own_release()], folder, _mirror()]
    made = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", *command], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        return "debootstrap failed:\n" + "\n".join(made.stdout.splitlines()[-5:])
    # The tree is temporary and need not survive a crash.
    with open(folder + "/etc/dpkg/dpkg.cfg.d/unsafe-io", "w", encoding="ascii") as file:
        file.write("force-unsafe-io\n")
    return None
