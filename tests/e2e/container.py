# SPDX-License-Identifier: Apache-2.0
"""A container of the image for one test, run by crun as Kubernetes would: the image's user, a read-only root, no
capabilities. In namespaces that end with it; the network is this machine's. Root only.

    bundle = container.unpack(archive, folder)
    one = container.Container(bundle, folder, mounts=[...], groups=[998])
    one.exec("/usr/bin/sideband", "--version")      # subprocess.CompletedProcess, text
    one.stop()                                      # the exit status
"""

import json
import os
import shutil
import subprocess
import tempfile

import programs

_TOOLS = ("crun", "umoci")
_NAME = "sideband"
# crun knows no mixture of both versions of cgroups, and the test needs neither.
_WITHOUT_CGROUPS = "mount -t proc proc /proc && mount -t tmpfs none /sys/fs/cgroup && exec \"$@\""


def why_not():
    """Why there can be no container here; None if there can."""
    if os.getuid() != 0:
        return "only root can run a container"
    for tool in _TOOLS:
        if not shutil.which(tool, path="/usr/bin"):
            return tool + " is not installed"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", _WITHOUT_CGROUPS, "sh", "true"],
                           capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else "this system allows no container: " + tried.stderr.strip()


def unpack(archive, folder):
    """Unpacks an OCI archive; returns the bundle: its root file system and its configuration."""
    layout, bundle = (tempfile.mkdtemp(prefix=kind, dir=folder) for kind in ("layout-", "bundle-"))
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", layout], check=True)
    image = subprocess.run(["umoci", "list", "--layout", layout], check=True, capture_output=True, text=True).stdout
    os.rmdir(bundle)
    subprocess.run(["umoci", "unpack", "--image", "%s:%s" % (layout, image.strip()), bundle], check=True)
    return bundle


def mount(source, destination, *options):
    return {"destination": destination, "source": source, "type": "bind", "options": ["bind", *options]}


def temporary(destination, group):
    """As Kubernetes has an emptyDir with an fsGroup."""
    return {"destination": destination, "source": "tmpfs", "type": "tmpfs",
            "options": ["mode=2777", "gid=%d" % group, "nosuid", "nodev"]}


def _constrain(config, mounts, groups, arguments):
    process, linux = config["process"], config["linux"]
    process["terminal"] = False
    process["capabilities"] = {kind: [] for kind in process["capabilities"]}
    process["noNewPrivileges"] = True
    process["user"]["additionalGids"] = groups
    process["args"] += arguments
    process.pop("rlimits")
    config.pop("hooks", None)
    config["root"]["readonly"] = True
    config["mounts"] = [one for one in config["mounts"] if one["destination"] in ("/proc", "/dev", "/dev/shm")] + mounts
    linux["namespaces"] = [one for one in linux["namespaces"] if one["type"] != "network"]
    linux.pop("resources")


def _write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


class Container:
    def __init__(self, bundle, folder, mounts=(), groups=(), arguments=()):
        """`arguments` are added to those of the image."""
        with open(os.path.join(bundle, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        _constrain(config, list(mounts), list(groups), list(arguments))
        self._process = config["process"]
        self._folder = tempfile.mkdtemp(prefix="container-", dir=folder)
        os.symlink(os.path.join(bundle, "rootfs"), os.path.join(self._folder, "rootfs"))
        _write(os.path.join(self._folder, "config.json"), config)
        self._crun = ["/usr/bin/crun", "--root", os.path.join(self._folder, "state"), "--cgroup-manager=disabled"]
        self._program = programs.Program("/usr/bin/unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c",
                                         _WITHOUT_CGROUPS, "sh", *self._crun, "run", "--bundle", self._folder, _NAME,
                                         cwd=self._folder)

    def log(self):
        return self._program.log()

    def wait(self, seconds=programs.PATIENCE_S):
        return self._program.wait(seconds)

    def ended(self):
        return self._program.ended()

    def kill(self):
        self._program.kill()

    def _inside(self, *command):
        """Runs a command of this machine in the namespaces of crun."""
        with open("/proc/%d/task/%d/children" % (self._program.pid, self._program.pid), encoding="ascii") as file:
            init = file.read().split()[0]
        return subprocess.run(["nsenter", "--mount", "--pid", "--target", init, "--", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=programs.PATIENCE_S,
                              check=False)

    def exec(self, *command):
        """Runs a command in the container, as its first process is run."""
        _write(os.path.join(self._folder, "process.json"), {**self._process, "args": command})
        return self._inside(*self._crun, "exec", "--process", os.path.join(self._folder, "process.json"), _NAME)

    def read(self, path):
        """A file in /proc/PID of the container's first process."""
        state = json.loads(self._inside(*self._crun, "state", _NAME).stdout)
        return self._inside("cat", "/proc/%d/%s" % (state["pid"], path)).stdout

    def stop(self, seconds=programs.PATIENCE_S):
        self._inside(*self._crun, "kill", _NAME, "TERM")
        return self.wait(seconds)
