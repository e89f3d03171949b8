# SPDX-License-Identifier: Apache-2.0
"""The Debian packages under a real systemd, in a machine of their own: what README.Debian promises, an upgrade, removal
and purge. Root only; //tests/package:install_test installs them with what they depend on."""

import os
import subprocess
import unittest

import machine
import programs

PACKAGES = ("sideband", "sideband-emulator")
UNITS = ("sidebandd.service", "sidebandd-http.socket", "sidebandd-grpc.socket")
CONFIG = "/etc/sideband/sidebandd.yaml"
# A line that the administrator adds, and one that the newer package adds.
OURS, THEIRS = "# administrator's\n", "# newer\n"


def deb(name):
    return programs.runfile("deploy/debian/%s.deb" % name)


def make_newer(name, folder):
    """The package with a greater version, and a configuration that has changed."""
    tree = os.path.join(folder, "newer-" + name)
    subprocess.run(["dpkg-deb", "--raw-extract", deb(name), tree], check=True)
    control = os.path.join(tree, "DEBIAN/control")
    with open(control, encoding="utf-8") as file:
        text = file.read()
    with open(control, "w", encoding="utf-8") as file:
        file.write(text.replace("-1\n", "-2\n", 1).replace("-1)", "-2)"))
    if os.path.exists(tree + CONFIG):
        with open(tree + CONFIG, "a", encoding="utf-8") as file:
            file.write(THEIRS)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, tree + ".deb"], check=True,
                   stdout=subprocess.DEVNULL)
    return tree + ".deb"


class PackageTest(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        why_not = machine.why_not()
        if why_not:
            self.skipTest(why_not)
        folder = programs.temporary_folder(self.addCleanup)
        files = {}
        for name in PACKAGES:
            files["/root/%s.deb" % name] = deb(name).encode()
            files["/root/newer-%s.deb" % name] = make_newer(name, folder).encode()
        self.machine = machine.Machine(folder, files)
        self.addCleanup(self.machine.close)
        # In containers it forbids that packages start or stop services.
        self.machine.checked("rm", "-f", "/usr/sbin/policy-rc.d")

    def dpkg(self, *arguments):
        return self.machine.checked("env", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "dpkg",
                                    *arguments)

    def start(self, *units):
        result = self.machine.run("systemctl", "start", *units)
        self.assertEqual(result.returncode, 0, self.machine.run("journalctl", "--no-pager", "--lines=30").stdout)

    def states(self, question):
        """What systemctl answers for each unit."""
        return [self.machine.run("systemctl", question, unit).stdout.strip() for unit in UNITS]

    def devices(self):
        return self.machine.run("sideband", "--address", "unix:/run/sideband/grpc.sock", "devices").stdout

    def wait_for_device(self):
        programs.wait_until(lambda: "gpu0" in self.devices(), "the daemon serves gpu0")

    def named_files(self):
        """Everything with the packages' name where packages install and services write."""
        # The rest is the host's, where others create and remove files meanwhile.
        folders = ("/etc", "/usr", "/opt", "/srv", "/var/lib", "/var/cache", "/var/log")
        return self.machine.checked("find", *folders, "-xdev", "-ignore_readdir_race", "-path", "/var/log/journal", "-prune",
                                    "-o", "-name", "*sideband*", "-print").split()

    def test_a_life(self):
        """One machine for all of this: booting it takes most of the time."""
        before = self.named_files()
        self.dpkg("--install", *("/root/%s.deb" % name for name in PACKAGES))

        # Nothing runs unless the administrator wants it; the configuration is good as it is.
        self.assertEqual(self.states("is-active"), ["inactive"] * 3)
        self.assertEqual(self.states("is-enabled"), ["disabled"] * 3)
        self.assertIn("valid", self.machine.checked("sidebandd", "--config", CONFIG, "--check"))
        self.assertEqual(self.machine.checked("stat", "-c", "%U:%G %a", "/var/lib/sideband", "/etc/sideband"),
                         "sideband:sideband 750\nroot:sideband 750\n")

        # As README.Debian has it.
        self.start("sideband-mcu@gpu0", "sidebandd")
        self.wait_for_device()
        self.assertIn("sideband_device_up", self.machine.checked(
            "curl", "--silent", "--fail", "--unix-socket", "/run/sideband/http.sock", "http://localhost/metrics"))

        # An upgrade keeps what the administrator changed and enabled, and restarts what runs.
        self.machine.checked("systemctl", "enable", "sidebandd.service", UNITS[1], "sideband-mcu@gpu0.service")
        self.machine.checked("sh", "-c", "printf \"%s\" >> %s" % (OURS, CONFIG))
        daemon = self.machine.property("sidebandd.service", "MainPID")
        self.dpkg("--force-confdef", "--force-confold", "--install", *("/root/newer-%s.deb" % name for name in PACKAGES))
        config = self.machine.checked("cat", CONFIG)
        self.assertIn(OURS, config)
        self.assertNotIn(THEIRS, config)
        self.assertIn(THEIRS, self.machine.checked("cat", CONFIG + ".dpkg-dist"))
        self.assertEqual(self.states("is-enabled"), ["enabled", "enabled", "disabled"])
        self.wait_for_device()
        self.assertNotIn(self.machine.property("sidebandd.service", "MainPID"), ("0", daemon))

        # Removed, and installed again: as it was.
        self.dpkg("--remove", *PACKAGES)
        self.assertEqual(self.machine.run("pgrep", "-c", "-f", "^/usr/bin/sideband").stdout, "0\n")
        self.assertIn(OURS, self.machine.checked("cat", CONFIG))
        self.dpkg("--install", *("/root/newer-%s.deb" % name for name in PACKAGES))
        self.assertEqual(self.states("is-enabled"), ["enabled", "enabled", "disabled"])
        self.start("sidebandd")

        # Purged: as if it had never been there, but for the user.
        self.dpkg("--purge", *PACKAGES)
        self.assertEqual(self.named_files(), before)
        self.assertIn("sideband:", self.machine.checked("getent", "passwd", "sideband"))

    def test_a_key_outlives_a_purge(self):
        self.dpkg("--install", *("/root/%s.deb" % name for name in PACKAGES))
        self.machine.checked("touch", "/etc/sideband/keys/vm1.key", "/etc/sideband/chips/mine.yaml")
        self.dpkg("--purge", *PACKAGES)
        self.assertEqual(self.machine.checked("find", "/etc/sideband", "-type", "f").split(),
                         ["/etc/sideband/keys/vm1.key", "/etc/sideband/chips/mine.yaml"])


if __name__ == "__main__":
    unittest.main()
