# SPDX-License-Identifier: Apache-2.0
"""The image as `./dev image` makes it, from the mirror of this machine's apt: what is in it, the same bytes again, and a
life in a container. Root only; run by name: `./dev test //tests/e2e:image_test`."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import unittest

import container_life
import programs

DATE = 1795403712
REVISION = "7034ce0" + "0" * 33
# Folders of programs other than the daemon and its client.
PROGRAM_FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/libexec")


def make_image(folder):
    """Makes the image in a new folder, as `./dev image` does."""
    os.mkdir(folder)
    done = subprocess.run(["/usr/bin/python3", "-B", programs.runfile("deploy/image/make_image.py"), "--package",
                           programs.runfile("deploy/debian/sideband.deb"), "--config",
                           programs.runfile("deploy/kubernetes/base/sidebandd.yaml"), "--revision", REVISION, "--date",
                           str(DATE), "--output", folder],
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **proxy()}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def proxy():
    return {name: value for name, value in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "no_proxy")}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class ImageTest(container_life.ContainerLife):
    @classmethod
    def make_archive(cls, folder):
        if not shutil.which("mmdebstrap", path="/usr/bin"):
            raise unittest.SkipTest("mmdebstrap is not installed")
        return make_image(os.path.join(folder, "first"))

    def files(self):
        """All paths of the root file system but folders, without the slash at the beginning."""
        root = os.path.join(self.bundle, "rootfs")
        return [os.path.relpath(os.path.join(parent, name), root)
                for parent, folders, names in os.walk(root)
                for name in names + [one for one in folders if os.path.islink(os.path.join(parent, one))]]

    def path_in_image(self, path):
        return os.path.join(self.bundle, "rootfs", path)

    def test_the_same_again_has_the_same_bytes(self):
        self.assertEqual(digest(make_image(self.path("again"))), digest(self.archive))

    def test_there_is_no_other_program(self):
        found = [path for path in self.files() if os.path.dirname(path) in PROGRAM_FOLDERS]
        self.assertEqual(sorted(found), ["usr/bin/sideband", "usr/bin/sidebandd"])
        self.assertLess(sum(os.lstat(self.path_in_image(path)).st_size for path in self.files()), 48 << 20)

    def test_no_file_is_privileged_writable_by_others_or_a_device(self):
        for path in self.files():
            mode = os.lstat(self.path_in_image(path)).st_mode
            self.assertTrue(stat.S_ISLNK(mode) or stat.S_ISREG(mode) and mode & 0o6022 == 0, path)

    def test_each_package_is_listed_with_its_licence(self):
        listed = os.listdir(self.path_in_image("var/lib/dpkg/status.d"))
        self.assertLess({"sideband", "libc6", "base-files"}, set(listed))
        for name in listed:
            with open(self.path_in_image("var/lib/dpkg/status.d/" + name), encoding="utf-8") as file:
                self.assertTrue(file.read().startswith("Package: %s\n" % name), name)
            self.assertTrue(os.path.exists(self.path_in_image("usr/share/doc/%s/copyright" % name)), name)
        self.assertTrue(os.path.exists(self.path_in_image("usr/share/common-licenses/Apache-2.0")))

    def test_the_bill_of_materials_is_that_of_the_image(self):
        with open(self.path_in_image("usr/share/doc/sideband/sideband.spdx.json"), encoding="utf-8") as file:
            bill = json.load(file)
        linked = {package["name"] for package in bill["packages"]
                  if "primaryPackagePurpose" in package and not package["name"].endswith("-dev")}
        self.assertLessEqual(set(os.listdir(self.path_in_image("var/lib/dpkg/status.d"))) - linked, {"base-files"})

    def test_the_archive_says_what_it_is(self):
        bundle = json.dumps(json.load(open(os.path.join(self.bundle, "config.json"), encoding="utf-8"))["annotations"])
        self.assertIn(REVISION, bundle)
        self.assertIn('"org.opencontainers.image.created": "2026-11-23T03:15:12Z"', bundle)
        self.assertRegex(os.path.basename(self.archive), r"^sideband_[0-9][^_]*_[a-z0-9]+\.oci\.tar$")


if __name__ == "__main__":
    unittest.main()
