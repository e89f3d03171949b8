# SPDX-License-Identifier: Apache-2.0
"""The C++ library as it is packaged: programs that have nothing but the unpacked packages compile and run."""

import os
import re
import socket
import subprocess
import unittest

import certificates
import programs
import site_layout

PACKAGES = ("libsideband0", "libsideband-dev")
CONFIG = "address: 127.0.0.1:%d\nca_file: ca.pem\ncert_file: %s.pem\nkey_file: %s.key\n"
EVENT = "tensor_active_cycles"
# Of what the library is made, but not its headers.
FOREIGN = re.compile(r"/(grpc\w*|google|absl|upb)/|\.pb\.h")


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def page_blocks(language):
    with open(programs.runfile("docs/client.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)
    return [text for name, text in blocks if name == language]


class LibraryTestCase(unittest.TestCase):
    """The packages, unpacked below the site's folder in place of installed."""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="100ms")
        cls.addClassCleanup(cls.site.close)
        cls.root = cls.site.path("root")
        for name in PACKAGES:
            output("dpkg-deb", "--extract", programs.runfile("deploy/debian/%s.deb" % name), cls.root)
        cls.libraries = os.path.join(cls.root, "usr/lib", output("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip())
        cls.library = os.path.join(cls.libraries, "libsideband.so.0")
        # The test holds it, so that a daemon that restarts has the same port.
        cls.socket = socket.create_server(("127.0.0.1", 0))
        cls.addClassCleanup(cls.socket.close)
        cls.site.start_device()
        programs.wait_until(lambda: "serving" in cls.site.device.log(), "the device's bus")
        cls.start_daemon()
        for user in site_layout.USERS:
            site_layout.write(cls.site.folder, user + ".yaml", CONFIG % (cls.site.grpc_port, user, user))

    @classmethod
    def start_daemon(cls):
        cls.site.start_daemon(sockets={"grpc": cls.socket})
        cls.site.wait_ready()

    @classmethod
    def pkg_config(cls, *arguments):
        environment = {**os.environ, "PKG_CONFIG_LIBDIR": os.path.join(cls.libraries, "pkgconfig"),
                       "PKG_CONFIG_SYSROOT_DIR": cls.root}
        return output("pkg-config", *arguments, "sideband", env=environment).split()

    @classmethod
    def compile(cls, name, source):
        """The program of a source file."""
        program = cls.site.path(name)
        output("g++", "-std=c++20", "-Wall", "-Werror", "-o", program, source, *cls.pkg_config("--cflags", "--libs"))
        return program

    def run_program(self, program, *arguments):
        return programs.run(program, *arguments, cwd=self.site.folder, environment={"LD_LIBRARY_PATH": self.libraries})


class PackageTest(LibraryTestCase):
    def test_each_header_stands_alone_and_needs_the_standard_library_only(self):
        folder = os.path.join(self.root, "usr/include/sideband")
        headers = sorted(os.listdir(folder))
        self.assertIn("client.h", headers)
        rules = self.site.path("header.d")
        for name in headers:
            output("g++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-MD", "-MF",
                   rules, *self.pkg_config("--cflags"), "-x", "c++", os.path.join(folder, name))
            included = self.site.read("header.d").decode()
            self.assertIn("/" + name, included)
            self.assertIsNone(FOREIGN.search(included), name)

    def test_the_flags_are_those_of_the_unpacked_packages(self):
        self.assertEqual(self.pkg_config("--cflags", "--libs"),
                         ["-I%s/usr/include" % self.root, "-L" + self.libraries, "-lsideband"])
        version = output("dpkg-deb", "--field", programs.runfile("deploy/debian/libsideband0.deb"), "Version")
        self.assertTrue(version.startswith(self.pkg_config("--modversion")[0]), version)

    def test_the_library_exports_what_the_headers_declare(self):
        lines = output("nm", "--dynamic", "--demangle", "--defined-only", self.library).splitlines()
        symbols = [line.split(maxsplit=2)[1:] for line in lines]
        # libstdc++ has these, too: they are weak, and the same everywhere.
        names = [name for kind, name in symbols if kind != "A" and not name.startswith("std::__cxx11::basic_string<")]
        functions = "ErrorCodeName|FormatTime|IncreasesBetween"
        for name in names:
            self.assertRegex(name, r"\Asideband::((Client|Stream|ScopeCounters)::|(%s)\b)" % functions)
            self.assertTrue(name.endswith("@@SIDEBAND_0"), name)
        self.assertTrue(any(name.startswith("sideband::Stream::Next()") for name in names), names)

    def test_the_name_of_the_library(self):
        self.assertIn("Library soname: [libsideband.so.0]", output("readelf", "--dynamic", "--wide", self.library))
        self.assertEqual(os.readlink(os.path.join(self.libraries, "libsideband.so")), "libsideband.so.0")

    def test_depends_name_the_libraries_that_are_linked(self):
        depends = output("dpkg-deb", "--field", programs.runfile("deploy/debian/libsideband0.deb"), "Depends")
        for name in ("libgrpc++", "libprotobuf", "libssl3", "libstdc++6"):
            self.assertIn(name, depends)


class ExampleTest(LibraryTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.path.join(cls.root, "usr/share/doc/libsideband-dev/examples")
        cls.snapshot = cls.compile("snapshot", os.path.join(folder, "snapshot.cc"))
        cls.watch = cls.compile("watch", os.path.join(folder, "watch.cc"))

    def count(self):
        """The present count of EVENT of vm1, by the program `sideband`."""
        result = self.site.sideband("tenant-a", "get", "--vm", "vm1", "--event", EVENT, "--format", "csv", "--raw")
        titles, *rows = [line.split(",") for line in result.stdout.splitlines()]
        row = next(dict(zip(titles, row)) for row in rows if not dict(zip(titles, row))["context"])
        return int(row["count"])

    def test_a_snapshot_has_the_counts_of_its_time(self):
        before = self.count()
        result = self.run_program(self.snapshot, "tenant-a.yaml")
        after = self.count()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\Agpu0 at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\n")
        (count,) = re.findall(r"(?m)^  vm1  %s  (\d+)$" % EVENT, result.stdout)
        self.assertLessEqual(before, int(count))
        self.assertLessEqual(int(count), after)
        self.assertIn("  vm1/train  ", result.stdout)
        self.assertNotIn("vm2", result.stdout)

    def test_an_error_is_one_line(self):
        result = self.run_program(self.snapshot, "nobody.yaml")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Asnapshot: \w+: 127\.0\.0\.1:\d+: .*\n\Z")
        result = self.run_program(self.snapshot, "absent.yaml")
        self.assertRegex(result.stderr, r"\Asnapshot: NotFound: .*absent\.yaml.*\n\Z")

    def test_increases_are_those_of_the_time_in_between(self):
        before = self.count()
        result = self.run_program(self.watch, "tenant-a.yaml", "5", EVENT)
        after = self.count()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = re.findall(r"(?m)^\S+Z gpu0 vm1  %s (\d+) (\S+)/s$" % EVENT, result.stdout)
        self.assertEqual(len(rows), 4, result.stdout)
        self.assertLessEqual(sum(int(count) for count, _ in rows), after - before)
        self.assertIn("synced\n", result.stdout)

    def start_watch(self):
        """A watch that has had updates."""
        watch = programs.Program(self.watch, "tenant-a.yaml", "1000000", EVENT, cwd=self.site.folder,
                                 environment={"LD_LIBRARY_PATH": self.libraries}, log=self.id() + ".log")
        self.addCleanup(watch.kill)
        self.await_updates(watch, 3)
        return watch

    @staticmethod
    def await_updates(watch, wanted):
        programs.wait_until(lambda: watch.ended() or watch.log().count(" gpu0 vm1  ") >= wanted, "updates\n" + watch.log())
        if watch.ended():
            raise AssertionError("the watch ended: " + watch.log())

    def stop_daemon(self, watch):
        """Returns when the watch has seen it."""
        self.assertEqual(self.site.daemon.stop(), 0)
        programs.wait_until(lambda: "lost: 127.0.0.1:%d: " % self.site.grpc_port in watch.log(), "the loss")

    def test_a_watch_goes_on_after_the_daemon_has_restarted(self):
        watch = self.start_watch()
        self.stop_daemon(watch)
        before = watch.log().count(" gpu0 vm1  ")
        self.start_daemon()
        self.await_updates(watch, before + 3)
        # Whatever the daemon keeps, the stream says whether something is missing.
        self.assertRegex(watch.log(), r"(?m)^(gap|resumed)( gpu0)?\s*$")

    def test_a_watch_goes_on_with_new_certificates_of_another_authority(self):
        watch = self.start_watch()
        self.stop_daemon(watch)
        authority = certificates.Authority(self.site.folder)
        authority.issue("server")
        for user in site_layout.USERS:
            authority.issue(user, uri=site_layout.TRUST + user)
        before = watch.log().count(" gpu0 vm1  ")
        self.start_daemon()
        self.await_updates(watch, before + 3)


class PageTest(LibraryTestCase):
    def test_the_program_of_the_page_runs(self):
        (source,) = page_blocks("cpp")
        site_layout.write(self.site.folder, "program.cc", source)
        result = self.run_program(self.compile("program", self.site.path("program.cc")), "tenant-a.yaml")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        self.assertRegex(result.stdout, r"\A(\S+Z vm1 sm_active_cycles \d+\n){3}\Z")

    def test_the_commands_of_the_page_answer_as_it_says(self):
        (shell,) = [block for block in page_blocks("") if "$ sideband devices" in block]
        environment = {"SIDEBAND_CONFIG": "tenant-a.yaml",
                       "PATH": os.path.dirname(programs.program_path("sideband")) + ":/usr/bin:/bin"}
        for command, shown in re.findall(r"^\$ (sideband .*)\n((?:[^$].*\n)*)", shell, re.MULTILINE):
            # Numbers, and what is aligned by them, are of their time; what is idle for a moment has no utilisation.
            words = {word for word in re.findall(r"[A-Za-z_]{2,}", shown) if word.isupper() or "_" in word} - {"NOTES"}

            def has_words():
                result = programs.run("/usr/bin/bash", "-c", command, cwd=self.site.folder, environment=environment)
                answer = result.stdout + result.stderr
                self.assertEqual(result.returncode, 1 if shown.startswith("sideband: ") else 0, answer)
                return words <= set(re.findall(r"[A-Za-z_]+", answer))
            programs.wait_until(has_words, "the words of the page in the answer to " + command)
