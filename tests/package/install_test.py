#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The packages in a minimal tree of this Debian release, with nothing but what they depend on.

Needs root, debootstrap and the mirror that this machine's apt uses; skipped otherwise. The tree is below TMPDIR or
/var/tmp, half a gigabyte, and is removed at the end.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

# Bazel's PATH for tests has no programs of administrators.
os.environ["PATH"] += ":/usr/sbin:/sbin"
RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
FOLDER = os.path.join(RUNFILES, "deploy/debian")
sys.path.append(os.path.join(RUNFILES, "tests/debian"))
import fresh_tree  # noqa: E402

CONFIG = "/etc/sideband/sidebandd.yaml"
# Mounts and processes of its own, which end with the command.
IN_TREE = """tree=$1
shift
mount -t proc proc "$tree/proc"
mount --rbind /dev "$tree/dev"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  ${http_proxy:+http_proxy="$http_proxy"} chroot "$tree" "$@"
"""
# The devices' list of the emulated device, as the service's user.
SERVED = """install -d -o sideband -g sideband /run/sideband /run/sideband-mcu
as_user() { setpriv --reuid sideband --regid sideband --init-groups -- "$@"; }
as_user sideband-mcu serve --chip /etc/sideband/chips/gpu0.yaml --bus unix:/run/sideband-mcu/gpu0.sock >/dev/null &
as_user sidebandd --config /etc/sideband/sidebandd.yaml &
for _ in $(seq 100); do
  sideband --address unix:/run/sideband/grpc.sock devices 2>/dev/null | grep gpu0 && exit 0
  sleep 0.2
done
exit 1
"""


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = fresh_tree.why_not()
        if reason:
            raise unittest.SkipTest(reason)
        cls.root = tempfile.mkdtemp(prefix="sideband-tree-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        cls.addClassCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", cls.root], check=True)
        failure = fresh_tree.make(cls.root, "--variant=minbase")
        if failure:
            raise unittest.SkipTest(failure)
        for name in ("sideband", "sideband-emulator", "python3-sideband"):
            shutil.copy(os.path.join(FOLDER, name + ".deb"), cls.root + "/root/")

    def run_in_tree(self, *command):
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", IN_TREE, "-",
                               self.root, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def checked(self, *command):
        done = self.run_in_tree(*command)
        self.assertEqual(done.returncode, 0, "%s\n%s%s" % (command, done.stdout, done.stderr))
        return done.stdout

    def install(self, *names):
        # Lists of packages first: debootstrap leaves none.
        self.checked("apt-get", "update")
        self.checked("apt-get", "install", "--yes", "--no-install-recommends", *("/root/%s.deb" % name for name in names))

    def named_files(self):
        return self.checked("find", "/", "-xdev", "-name", "*sideband*", "-not", "-path", "/root/*").split()

    def test_a_life(self):
        """One tree for all of this: making it takes most of the time."""
        self.install("sideband")
        for program in ("sideband", "sidebandd"):
            self.assertRegex(self.checked(program, "--version"), r"^%s \d+\.\d+\.\d+( \([0-9a-f]{7}(-dirty)?\))?\n" % program)
        self.assertEqual(self.checked("stat", "-c", "%U:%G %a", "/etc/sideband", "/var/lib/sideband", "/var/log/sideband"),
                         "root:sideband 750\nsideband:sideband 750\nsideband:sideband 750\n")
        self.assertIn("sideband", self.checked("id", "-nG", "sideband"))
        self.assertEqual(self.checked("sidebandd", "--config", CONFIG, "--check"),
                         CONFIG + ": valid, with all files that it names\n")
        self.install("sideband-emulator")
        self.assertIn("gpu0", self.checked("bash", "-c", SERVED))
        self.assertIn("I2C adapter", self.checked("sideband", "i2cdev", "--bus", "3=unix:/nonexistent", "--", "sh", "-c",
                                                  "printf 'I2C adapter'"))

        # Removed: the configuration remains. Purged: nothing but the user.
        self.checked("sh", "-c", "echo '# mine' >> " + CONFIG)
        self.checked("apt-get", "remove", "--yes", "sideband", "sideband-emulator")
        self.assertIn("# mine", self.checked("cat", CONFIG))
        self.assertEqual([path for path in self.named_files() if path.startswith("/usr/bin")], [])
        self.checked("apt-get", "purge", "--yes", "sideband", "sideband-emulator")
        self.checked("rm", "-rf", "/run/sideband", "/run/sideband-mcu")  # a real systemd removes them
        self.assertEqual(self.named_files(), [])
        self.assertIn("sideband:", self.checked("getent", "passwd", "sideband"))

    def test_the_python_package(self):
        self.install("python3-sideband")
        self.assertEqual(self.checked("/usr/bin/python3", "-c", "import sideband; print(sideband.Client.__name__)"), "Client\n")
        folder = "/usr/lib/python3/dist-packages/sideband"
        self.assertIn(".pyc", self.checked("find", folder + "/__pycache__", "-type", "f"))
        self.checked("apt-get", "purge", "--yes", "python3-sideband")
        self.checked("sh", "-c", "! test -e " + folder)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
