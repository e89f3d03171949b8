# SPDX-License-Identifier: Apache-2.0
"""The root file system of the image: the package and the libraries that it loads, from the mirror of this machine's apt."""

import os
import shlex
import shutil
import subprocess
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Packages that only maintainer scripts need, which do not run, and what the packages provide.
_LEFT_OUT = {"debconf": "debconf-2.0", "mawk": "awk", "systemd-standalone-sysusers": "systemd-sysusers",
             "systemd-standalone-tmpfiles": "systemd-tmpfiles"}
_INSTALLED = """Package: %s
Status: install ok installed
Version: 999
Architecture: all
Multi-Arch: foreign
Provides: %s
Maintainer: none <none@localhost>
Description: left out

"""
# finish_tree.py has cleaned up, except for what mmdebstrap made in /dev.
_SKIPPED = "cleanup/apt,cleanup/mmdebstrap,cleanup/reproducible,cleanup/run,cleanup/tmp,output/dev"
# The folders of packages that are not yet moved to /usr are links.
_MERGE = 'for name in bin sbin lib lib32 lib64 libx32; do mkdir -p "$1/usr/$name"; ln -s "usr/$name" "$1/$name"; done'


def _sources():
    """Debian's suites in this machine's apt, as lines of a sources.list: with updates and security, if it has them."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                             "Created-By: Packages", "Origin: Debian"], check=True, capture_output=True, text=True).stdout
    return "".join(line + "\n" for line in sorted(set(listed.splitlines())))


def _codename():
    with open("/etc/os-release", encoding="utf-8") as file:
        values = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return values["VERSION_CODENAME"].strip('"')


def _setup_hook(folder):
    """Takes the packages that are left out as installed, and puts the package where apt expects it: at its own path."""
    place = shlex.quote(folder)
    return '%s; cp %s/status "$1/var/lib/dpkg/status" && mkdir -p "$1"%s && cp %s/sideband.deb "$1"%s' % (
        _MERGE, place, place, place, place)


def _finish_hook(folder, config):
    finish = (sys.executable, "-B", os.path.join(_FOLDER, "finish_tree.py"), "--config", os.path.abspath(config))
    return '%s "$1" %s/sideband.deb "$1"/var/cache/apt/archives/*.deb' % (shlex.join(finish), shlex.quote(folder))


def make(package, config, layer, folder, date):
    """Writes the file `layer`, a tar archive. `package` is the .deb and `config` the daemon's default configuration;
    `folder` is for temporary files; no file of the archive is newer than `date`, in seconds since 1970."""
    # The user of mmdebstrap's namespace reads it, too.
    os.chmod(folder, 0o755)
    shutil.copyfile(package, os.path.join(folder, "sideband.deb"))
    with open(os.path.join(folder, "status"), "w", encoding="ascii") as file:
        file.writelines(_INSTALLED % item for item in _LEFT_OUT.items())
    subprocess.run(["mmdebstrap", "--quiet", "--variant=extract", "--format=tar", "--keyring=" + _KEYRING,
                    "--include=base-files,%s/sideband.deb" % folder, "--setup-hook=" + _setup_hook(folder),
                    "--extract-hook=" + _finish_hook(folder, config), "--skip=" + _SKIPPED, _codename(), layer, "-"],
                   input=_sources(), text=True, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(date)})
