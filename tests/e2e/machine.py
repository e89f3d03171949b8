# SPDX-License-Identifier: Apache-2.0
"""A machine for one test: this system's files under an overlay, with a systemd of its own as process 1, in namespaces
that end with it. Nothing outside is changed. Root only.

    machine = machine.Machine(folder, {"/etc/sideband/sidebandd.yaml": text})
    machine.run("systemctl", "start", "sidebandd")      # subprocess.CompletedProcess, text
    machine.close()
"""

import os
import shutil
import subprocess
import tempfile

import programs

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
TARGET = "sideband-test.target"
# Little enough to boot in a second or two, and independent of what this system starts.
_TARGET = """[Unit]
Requires=systemd-journald.service
After=systemd-journald.service
AllowIsolate=yes
"""
# $1: a folder, on which a tmpfs is mounted; $2: the files to lay over those of the tree $3; $4: the name of a control
# group of its own: machines that share one disturb each other's services.
_BOOT = """set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root groups
mount -t cgroup2 cgroup2 groups
mkdir "groups/$4"
echo $$ > "groups/$4/cgroup.procs"
umount groups
cp -r "$2/." upper
mount -t overlay overlay -o "lowerdir=$3,upperdir=upper,workdir=work" root
cd root
mkdir -p proc sys run tmp dev
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p sys/fs/cgroup
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir outside
pivot_root . outside
umount -l outside
mount --make-rshared /  # as systemd has it: mounts of its own reach the services' namespaces
exec unshare --cgroup /bin/sh -ec "mount -t cgroup2 cgroup2 /sys/fs/cgroup
  exec env -i container=sideband PATH=%s /usr/lib/systemd/systemd --system --unit=%s --show-status=no"
""" % (_PATH, TARGET)
# $1: the name of a control group, which is removed with those in it.
_REMOVE_GROUP = """mount --make-rprivate /
mount -t cgroup2 cgroup2 /mnt
[ ! -d "/mnt/$1" ] || find "/mnt/$1" -depth -type d -exec rmdir {} +
"""
_NAMESPACES = ("--pid", "--mount", "--uts", "--ipc")


def why_not():
    """Why there can be no machine here; None if there can."""
    if os.getuid() != 0:
        return "only root can boot a machine"
    if not os.path.exists("/usr/lib/systemd/systemd"):
        return "systemd is not installed"
    tried = subprocess.run(["unshare", *_NAMESPACES, "--net", "--cgroup", "--fork", "/bin/sh", "-c",
                            "mount --make-rprivate / && mount -t tmpfs x /mnt && mount -t cgroup2 x /mnt"],
                           capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else "this system allows no machine: " + tried.stderr.strip()


class Machine:
    def __init__(self, folder, files, tree="/", network=False):
        """`files`: {path: text, or the path of a file to copy, as bytes}; `tree`: the files of another system to take in
        place of this one's; `network`: this system's network, in place of a loopback of its own."""
        self._folder = folder
        self._group = "sideband-%s" % os.path.basename(folder)
        base = tempfile.mkdtemp(prefix="root-", dir=folder)
        over = tempfile.mkdtemp(prefix="files-", dir=folder)
        for path, content in {**files, "/etc/systemd/system/" + TARGET: _TARGET}.items():
            self._lay(over, path, content)
        os.chmod(over, 0o755)
        with open(os.path.join(folder, "machine.log"), "wb") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", "unshare", *_NAMESPACES, *([] if network else ["--net"]), "--fork",
                 "--kill-child", "/bin/sh", "-c", _BOOT, "sh", base, over, tree, self._group],
                env={"PATH": _PATH}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._init = None
        try:
            programs.wait_until(self._has_booted, lambda: "the machine has booted\n" + self.log())
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _lay(over, path, content):
        place = over + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if isinstance(content, bytes):
            shutil.copyfile(content.decode(), place)
            os.chmod(place, 0o755)
        else:
            with open(place, "w", encoding="utf-8") as file:
                file.write(content)

    def log(self):
        with open(os.path.join(self._folder, "machine.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def _has_booted(self):
        if self._process.poll() is not None:
            raise AssertionError("the machine ended: " + self.log())
        with open("/proc/%d/task/%d/children" % (self._process.pid, self._process.pid), encoding="ascii") as children:
            found = children.read().split()
        if not found:
            return False
        self._init = found[0]
        return self.run("systemctl", "is-active", TARGET).stdout == "active\n"

    def _inside(self, command):
        return ["nsenter", "--all", "--target", self._init, "--", *command]

    def open(self, *command, **options):
        """A program that runs beside the test, as subprocess.Popen; it does not outlive the machine."""
        return subprocess.Popen(self._inside(command), **options)

    def run(self, *command, text=None):
        return subprocess.run(self._inside(command), input=text,
                              stdin=None if text is not None else subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=programs.PATIENCE_S, check=False)

    def checked(self, *command, text=None):
        """The standard output of a command that must succeed."""
        result = self.run(*command, text=text)
        if result.returncode != 0:
            raise AssertionError("%s: %s%s" % (" ".join(command), result.stdout, result.stderr))
        return result.stdout

    def property(self, unit, name):
        return self.checked("systemctl", "show", "--value", "--property", name, unit).strip()

    def _remove_group(self):
        """Whether no process of the machine is left."""
        return subprocess.run(["unshare", "--mount", "/bin/sh", "-c", _REMOVE_GROUP, "sh", self._group], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True).returncode == 0

    def close(self):
        self._process.kill()
        self._process.wait()
        programs.wait_until(self._remove_group, "the machine's processes have ended")
