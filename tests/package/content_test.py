#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What is in the packages: files and their modes, programs without traces of the build, a complete bill of materials;
lintian is content; and the same again has the same bytes."""

import base64
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
FOLDER = os.path.join(RUNFILES, "deploy/debian")
PYTHON = "python3-sideband"
PACKAGES = ("sideband", "sideband-emulator", "libsideband0", "libsideband-dev", PYTHON)
_LIBRARIES = "usr/lib/" + subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], check=True, capture_output=True,
                                         text=True).stdout.strip()
PROGRAMS = {"sideband": ("usr/bin/sideband", "usr/bin/sidebandd"),
            "sideband-emulator": ("usr/bin/sideband-mcu", "usr/lib/sideband/libsideband_i2cdev.so"),
            "libsideband0": (_LIBRARIES + "/libsideband.so.0",),
            "libsideband-dev": (),
            PYTHON: ()}
# Those that have a bill of materials.
LINKED = tuple(name for name in PACKAGES if PROGRAMS[name])
# A path of the folder in which Bazel builds, or of its user's.
TRACES = re.compile(rb"(/root/|/home/|/tmp/|/execroot|/_bazel|bazel-out/)[ -~]*")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def deb(name):
    return os.path.join(FOLDER, name + ".deb")


class ContentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.trees = {name: os.path.join(folder.name, name) for name in PACKAGES}
        for name, tree in cls.trees.items():
            subprocess.run(["dpkg-deb", "--extract", deb(name), tree], check=True)

    def read(self, name, path):
        with open(os.path.join(self.trees[name], path), "rb") as file:
            return file.read()

    def test_owners_and_modes(self):
        for name in PACKAGES:
            for line in output("dpkg-deb", "--contents", deb(name)).splitlines():
                mode, owner, *_, path = re.sub(" -> .*", "", line).split()
                is_program = path[2:] in PROGRAMS[name] and ".so" not in path
                wanted = "drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if is_program else "-rw-r--r--"
                wanted = "lrwxrwxrwx" if " -> " in line else wanted
                self.assertEqual((mode, owner), (wanted, "root/root"), line)

    def test_everything_has_one_date(self):
        for name in PACKAGES:
            lines = output("dpkg-deb", "--contents", deb(name)).splitlines()
            self.assertEqual(len({tuple(line.split()[3:5]) for line in lines}), 1, lines)

    def test_programs_are_stripped_and_have_no_trace_of_the_build(self):
        for name in PACKAGES:
            for program in PROGRAMS[name]:
                content = self.read(name, program)
                found = {match[0] for match in TRACES.finditer(content)}
                self.assertEqual(found, set(), program)
                self.assertNotIn(".debug_info", output("readelf", "-SW", os.path.join(self.trees[name], program)))

    def test_programs_are_hardened(self):
        for name in PACKAGES:
            for program in PROGRAMS[name]:
                dynamic = output("readelf", "-dlW", os.path.join(self.trees[name], program))
                self.assertIn("BIND_NOW", dynamic, program)
                self.assertIn("GNU_RELRO", dynamic, program)

    def test_conffiles_are_all_of_etc(self):
        for name in PACKAGES:
            etc = output("find", self.trees[name], "-type", "f", "-path", self.trees[name] + "/etc/*").split()
            if not etc:
                continue
            listed = output("dpkg-deb", "--info", deb(name), "conffiles").split()
            self.assertEqual(sorted(listed), sorted(path[len(self.trees[name]):] for path in etc))

    def test_what_the_units_run_is_installed(self):
        unit_of = {"sideband": "sidebandd.service", "sideband-emulator": "sideband-mcu@.service"}
        for name, unit in unit_of.items():
            text = self.read(name, "usr/lib/systemd/system/" + unit).decode()
            started = re.search(r"^ExecStart=/(\S+)", text, re.MULTILINE)[1]
            self.assertIn(started, PROGRAMS[name])

    def test_what_pages_and_comments_name_is_installed(self):
        for path in ("etc/sideband/sidebandd.yaml", "etc/sideband/policy.yaml"):
            for named in re.findall(r"/(usr/share/[\w./-]+\w)", self.read("sideband", path).decode()):
                self.assertTrue(os.path.exists(os.path.join(self.trees["sideband"], named)), named)
        for named in re.findall(r"\((docs/[\w-]+\.md|examples/[\w.]+)", self.read(
                "sideband", "usr/share/doc/sideband/README.Debian").decode()):
            self.assertTrue(os.path.exists(os.path.join(self.trees["sideband"], "usr/share/doc/sideband", named)), named)

    def test_the_library_is_announced_to_programs_and_to_the_loader(self):
        shlibs = output("dpkg-deb", "--info", deb("libsideband0"), "shlibs")
        self.assertRegex(shlibs, r"\Alibsideband 0 libsideband0 \(>= [\w.+]+\)\n\Z")
        self.assertEqual(output("dpkg-deb", "--info", deb("libsideband0"), "triggers"), "activate-noawait ldconfig\n")
        version = output("dpkg-deb", "--field", deb("libsideband0"), "Version").strip()
        self.assertEqual(output("dpkg-deb", "--field", deb("libsideband-dev"), "Depends").strip(),
                         "libsideband0 (= %s)" % version)

    def test_programs_of_guests_have_their_header(self):
        self.assertIn(b"#define SIDEBAND_HPC_HPCC_TRIGGER ", self.read("sideband", "usr/include/sideband_hpc.h"))

    def test_the_bill_of_materials_has_what_is_linked(self):
        for name in LINKED:
            bill = json.loads(self.read(name, "usr/share/doc/%s/%s.spdx.json" % (name, name)))
            ids = [package["SPDXID"] for package in bill["packages"]]
            self.assertEqual(len(ids), len(set(ids)))
            for relationship in bill["relationships"]:
                self.assertIn(relationship["relatedSpdxElement"], ids)
            direct = {relationship["relatedSpdxElement"] for relationship in bill["relationships"]
                      if relationship["relationshipType"] == "DYNAMIC_LINK"}
            named = {package["name"] for package in bill["packages"] if package["SPDXID"] in direct}
            # dpkg-shlibdeps knows the same libraries by its own ways; Depends may name a virtual package.
            depends = set(re.findall(r"\blib[^ ,(|]+", output("dpkg-deb", "--field", deb(name), "Depends")))
            self.assertLessEqual(depends - named, {"libspdlog1.10-fmt9", "libspdlog1.15-fmt10"})
            self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
            self.assertRegex(bill["documentNamespace"], "^urn:uuid:")

    def test_licences_of_what_is_compiled_in_are_quoted(self):
        for name in LINKED:
            text = self.read(name, "usr/share/doc/%s/third-party-licences.txt" % name).decode()
            self.assertIn("developed by Henry Schreiner", text, "CLI11")
            self.assertIn("Niels Lohmann", text)
        text = self.read("sideband", "usr/share/doc/sideband/third-party-licences.txt").decode()
        self.assertIn("Leon Sorokin", text, "uPlot")

    def test_the_bill_of_materials_has_what_the_status_page_is_made_of(self):
        bill = json.loads(self.read("sideband", "usr/share/doc/sideband/sideband.spdx.json"))
        listed = {reference["referenceLocator"] for package in bill["packages"]
                  for reference in package.get("externalRefs", []) if "pkg:npm/" in reference["referenceLocator"]}
        with open(os.path.join(FOLDER, "../../third_party/npm/page/package.json"), encoding="utf-8") as file:
            wanted = {"pkg:npm/%s@%s" % item for item in json.load(file)["dependencies"].items()}
        self.assertEqual(listed, wanted)

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_is_content(self):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *map(deb, PACKAGES)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_packaged_again_it_is_the_same(self):
        for name in PACKAGES:
            hashes = set()
            for path in (deb(name), os.path.join(FOLDER, name + ".again.deb")):
                with open(path, "rb") as file:
                    hashes.add(hashlib.sha256(file.read()).hexdigest())
            self.assertEqual(len(hashes), 1, name)


class PythonTest(unittest.TestCase):
    """The Python package: in its wheel, and as Debian's Python finds it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.debian, cls.unpacked = (os.path.join(folder.name, name) for name in ("debian", "wheel"))
        subprocess.run(["dpkg-deb", "--extract", deb(PYTHON), cls.debian], check=True)
        with zipfile.ZipFile(cls.wheel("sideband.whl")) as wheel:
            wheel.extractall(cls.unpacked)

    @staticmethod
    def wheel(name):
        return os.path.join(RUNFILES, "deploy/python", name)

    def run_python(self, code, path):
        # Without the caller's own folders: the package needs what Debian's packages have, and nothing else.
        return subprocess.run(["/usr/bin/python3", "-B", "-c", code], env={"PYTHONPATH": path}, check=True, cwd="/",
                              capture_output=True, text=True).stdout

    def test_it_can_be_imported_from_both(self):
        version = output("dpkg-deb", "--field", deb(PYTHON), "Version").strip()
        code = "import sideband, importlib.metadata as m; print(sideband.__version__, m.version('sideband'), sideband.Client)"
        for path in (self.unpacked, os.path.join(self.debian, "usr/lib/python3/dist-packages")):
            self.assertEqual(self.run_python(code, path),
                             "{0} {0} <class 'sideband.client.Client'>\n".format(version.rpartition("-")[0]))

    def test_both_have_the_same_modules(self):
        def files(root):
            return {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}
        debian = files(os.path.join(self.debian, "usr/lib/python3/dist-packages"))
        wheel = files(self.unpacked)
        self.assertEqual({os.path.basename(path) for path in wheel - debian}, {"RECORD", "LICENSE"})
        self.assertEqual(debian - wheel, set())
        for service in ("admin", "counting", "sensors", "telemetry"):
            self.assertIn("sideband/_proto/sideband/v1/%s.proto" % service, debian)

    def test_its_record_is_right(self):
        with zipfile.ZipFile(self.wheel("sideband.whl")) as wheel:
            record, = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
            for name, algorithm, size in csv.reader(wheel.read(record).decode().splitlines()):
                if name != record:
                    digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                    self.assertEqual((algorithm, size), ("sha256=" + digest, str(len(wheel.read(name)))), name)

    def test_the_wheel_is_pure(self):
        with zipfile.ZipFile(self.wheel("sideband.whl")) as wheel:
            tags, = (wheel.read(name).decode() for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
        self.assertIn("Root-Is-Purelib: true\nTag: py3-none-any\n", tags)

    def test_made_again_it_is_the_same(self):
        contents = []
        for name in ("sideband.whl", "sideband.again.whl"):
            with open(self.wheel(name), "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
