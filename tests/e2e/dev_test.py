# SPDX-License-Identifier: Apache-2.0
"""`./dev` on a machine that is not set up, with fakes of apt-get, sudo and Bazel that only record their arguments."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import unittest

import programs

# The commands available to `./dev` and its children, besides those that a test adds.
TOOLS = ("awk", "bash", "cat", "comm", "cp", "cut", "date", "dirname", "env", "flock", "git", "grep", "head", "id", "kill",
         "mkdir", "mktemp", "mv", "nproc", "paste", "readlink", "rm", "rmdir", "sed", "sleep", "sort", "tail", "tee",
         "tr", "true", "sha256sum", "find", "xargs")
RECORD = """#!/usr/bin/bash
echo "${0##*/} $*" >>"$RECORD"
"""
NOTHING_INSTALLED = "#!/usr/bin/bash\nexit 1\n"
EVERYTHING_INSTALLED = "#!/usr/bin/bash\necho installed\n"
USER = "#!/usr/bin/bash\necho 1000\n"
ROOT = "#!/usr/bin/bash\necho 0\n"


class DevTest(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        for folder in ("bin", "tmp", "home"):
            os.mkdir(self.path(folder))
        for tool in TOOLS:
            os.symlink(shutil.which(tool, path="/usr/bin:/bin"), self.path("bin/" + tool))
        shutil.copy(programs.runfile("dev"), self.path("dev"))
        self.environment = {"PATH": self.path("bin"), "TMPDIR": self.path("tmp"), "HOME": self.path("home"),
                            "RECORD": self.path("record")}
        self.provide("apt-get", RECORD)
        self.provide("bazel", RECORD)

    def provide(self, name, text):
        path = self.path("bin/" + name)
        if os.path.islink(path):
            os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, stat.S_IRWXU)

    def dev(self, *arguments):
        result = programs.run("/usr/bin/bash", self.path("dev"), *arguments, cwd=self.folder,
                              environment=self.environment)
        self.assertEqual(sorted(os.listdir(self.path("tmp"))), self.kept, "nothing is left in TMPDIR")
        return result

    kept = []

    def asked(self):
        with open(self.path("record"), encoding="utf-8") as record:
            return record.read().splitlines()

    def installed(self, verb):
        """The packages that `./dev setup VERB` has apt-get install."""
        self.provide("id", ROOT)
        self.provide("dpkg-query", NOTHING_INSTALLED)
        result = self.dev("setup", verb)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        update, install = self.asked()
        os.remove(self.path("record"))
        self.assertEqual(update, "apt-get update")
        prefix = "apt-get install --yes --no-install-recommends "
        self.assertTrue(install.startswith(prefix), install)
        return set(install[len(prefix):].split())

    def test_each_verb_installs_what_it_needs(self):
        build, test, verify, bench, image = (self.installed(verb) for verb in ("build", "test", "verify", "bench", "image"))
        self.assertLess(build, test)
        self.assertLess(test, verify)
        self.assertLess(build, bench)
        self.assertLessEqual({"bazel-bootstrap", "clang", "libgrpc++-dev", "curl"}, build)
        self.assertLessEqual({"libgtest-dev", "python3-grpcio"}, test - build)
        self.assertLessEqual({"spin", "clang-tidy", "chromium", "npm"}, verify - test)
        self.assertLessEqual({"npm"}, image)
        self.assertLessEqual({"gtkwave", "gnuplot-nox"}, bench - test)
        self.assertLessEqual(build | {"mmdebstrap", "umoci"}, image)
        self.assertNotIn("prometheus", build | test | bench, "the package would run as a service")

    def test_nothing_is_asked_where_nothing_is_missing(self):
        self.provide("id", USER)
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        for verb in ("build", "test", "verify", "bench", "image", "fmt"):
            result = self.dev("setup", verb)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertFalse(os.path.exists(self.path("record")))

    def refused(self):
        self.provide("id", USER)
        self.provide("dpkg-query", NOTHING_INSTALLED)
        for arguments in (("setup",), ("build",), ("demo", "--once"), ("test", "//proto/...")):
            result = self.dev(*arguments)
            self.assert_refused(result, 1, "dev: packages are missing",
                                "an administrator can: apt-get install --no-install-recommends ", " clang ")
        self.assertFalse(os.path.exists(self.path("record")), "neither apt-get nor Bazel ran")

    def test_without_root_and_sudo_an_administrator_gets_a_command(self):
        self.refused()

    def test_a_sudo_that_would_ask_for_a_password(self):
        self.provide("sudo", "#!/usr/bin/bash\nexit 1\n")
        self.refused()

    def test_sudo_installs(self):
        self.provide("id", USER)
        self.provide("dpkg-query", NOTHING_INSTALLED)
        self.provide("sudo", '#!/usr/bin/bash\n[ "$1" != -n ] || shift\nexec "$@"\n')
        result = self.dev("setup")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("apt-get update", self.asked())

    def test_a_failed_installation_shows_why(self):
        self.provide("id", ROOT)
        self.provide("dpkg-query", NOTHING_INSTALLED)
        self.provide("apt-get", "#!/usr/bin/bash\necho 'E: no space left' >&2\nexit 100\n")
        result = self.dev("build")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\AE: no space left\ndev: the packages could not be installed; by hand: apt-get [^\n]+\n\Z")

    def built(self):
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        result = self.dev("build", "--jobs=1")
        self.assertEqual(result.returncode, 0, result)
        (asked,) = self.asked()
        return asked, result.stderr

    def test_build_keeps_its_files_below_home(self):
        asked, notice = self.built()
        objects = re.escape(self.path("home/.cache/sideband/objects/")) + "[0-9a-f]{16}"
        self.assertRegex(asked, r"\Abazel build --disk_cache=%s --modify_execution_info=TestRunner=\+no-cache "
                                r"--repo_env=SIDEBAND_NPM= //daemon:sidebandd .*--jobs=1\Z" % objects)
        self.assertEqual(notice, "")

    def test_a_home_that_cannot_be_written(self):
        self.kept = ["sideband-%s-%d" % (kind, os.getuid()) for kind in ("bazel", "cache")]
        for home in ("/proc/nobody", ""):
            self.environment["HOME"] = home
            asked, notice = self.built()
            os.remove(self.path("record"))
            folder = self.path("tmp/" + self.kept[0])
            self.assertTrue(asked.startswith("bazel --output_user_root=%s build " % folder), asked)
            self.assertRegex(notice, r"\AHOME \([^\n]*\) cannot be written: Bazel keeps its files in %s; TMPDIR [^\n]*\n\Z" %
                             re.escape(folder))

    def test_a_failed_build_shows_why_and_nothing_else(self):
        self.provide("bazel", "#!/usr/bin/bash\necho '[1 / 2] Compiling' >&2\necho 'ERROR: it is wrong' >&2\nexit 1\n")
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        result = self.dev("build")
        self.assertEqual((result.returncode, result.stderr), (1, "ERROR: it is wrong\n"))

    def ends_by(self, number, status):
        """A run of the tests that hangs in Bazel is ended by a signal, with all that it started."""
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        self.provide("apt-get", "#!/usr/bin/bash\nexit 1\n")  # no Prometheus
        # Like Bazel's client, it takes a moment to end its children.
        self.provide("bazel", "#!/usr/bin/bash\ntrap 'echo ended >>\"$RECORD\"; exit 8' INT TERM\necho $$ >>\"$RECORD\"\n"
                              "sleep 1000 &\nwait\n")
        # A shell cannot trap what it was started to ignore, as whoever runs this test may.
        with subprocess.Popen(["/usr/bin/env", "--default-signal=INT", "bash", self.path("dev"), "test"], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as dev:
            programs.wait_until(lambda: os.path.exists(self.path("record")), "Bazel runs")
            dev.send_signal(number)
            output, errors = dev.communicate(timeout=programs.PATIENCE_S)
        self.assertEqual(dev.returncode, status, output + errors)
        self.assertNotIn("== tests", output, "no later stage began")
        self.assertEqual(len(self.asked()), 2, "Bazel was asked once, and ended")
        self.assertEqual(self.session_of(dev), [], "nothing of its session is left")
        self.assertEqual(os.listdir(self.path("tmp")), [])

    @staticmethod
    def session_of(program):
        """What runs of a program's session; not what has ended, and waits for its parent to notice."""
        lines = subprocess.run(["ps", "-o", "stat=,args=", "-s", str(program.pid)], capture_output=True, text=True,
                               check=False).stdout.splitlines()
        return [line for line in lines if not line.startswith("Z")]

    def test_a_signal_ends_everything(self):
        self.ends_by(signal.SIGTERM, 143)
        os.remove(self.path("record"))
        self.ends_by(signal.SIGINT, 130)

    # Compiles at once; what compiles ahead goes on until it is ended.
    AHEAD = ("#!/usr/bin/bash\necho \"$*\" >>\"$RECORD\"\n"
             "[[ $* != *--batch*build* ]] || { trap 'exit 8' INT TERM; sleep 1000 & wait; }\n")

    def ahead(self):
        """What compiles ahead, by its configuration, and what is left of its files."""
        left = self.path("home/.cache/sideband/ahead")
        return (re.findall(r"^--batch.* build .*--config=(\w+)", "\n".join(self.asked()), re.MULTILINE),
                os.listdir(left) if os.path.isdir(left) else [])

    def test_what_compiles_ahead_is_taken_over(self):
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        self.provide("apt-get", "#!/usr/bin/bash\nexit 1\n")  # no Prometheus
        self.provide("bazel", self.AHEAD)
        result = self.dev("verify")
        self.assertEqual(result.returncode, 1, "no test ran")
        self.assertIn("dev: static analysis: no test ran", result.stderr)
        begun, left = self.ahead()
        self.assertEqual((begun[0], left), ("asan", []), self.asked())

    def test_a_signal_ends_what_compiles_ahead(self):
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        self.provide("apt-get", "#!/usr/bin/bash\nexit 1\n")
        self.provide("bazel", self.AHEAD.replace("[[ ", "[[ $* != test* && "))
        with subprocess.Popen(["bash", self.path("dev"), "verify"], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as dev:
            programs.wait_until(lambda: os.path.exists(self.path("record")) and self.ahead()[0], "it compiles ahead")
            dev.send_signal(signal.SIGTERM)
            output, errors = dev.communicate(timeout=programs.PATIENCE_S)
        self.assertEqual(dev.returncode, 143, output + errors)
        self.assertEqual((self.session_of(dev), self.ahead()[1], os.listdir(self.path("tmp"))), ([], [], []))

    def test_stages_that_cannot_begin_in_time_fail_the_run(self):
        with open(programs.runfile("dev"), encoding="utf-8") as file:
            text = file.read().replace("begin_within=$((60 * $2))", "begin_within=1; SECONDS=1")
        with open(self.path("dev"), "w", encoding="utf-8") as file:
            file.write(text)
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        result = self.dev("verify", "--begin-within", "75")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("== compile: not run: ", result.stdout)
        stages = re.findall(r"^   not run (.*)$", result.stdout, re.MULTILINE)
        self.assertIn("static analysis", stages)
        self.assertEqual(result.stdout.splitlines()[-1], f"0 passed, {len(stages)} failed")

    def test_what_does_not_finish_in_time_is_named(self):
        with open(programs.runfile("dev"), encoding="utf-8") as file:
            text = file.read()
        limit = "ring_after $((begin_within + finish_within - SECONDS))"
        self.assertIn(limit, text)
        text = text.replace(limit, "ring_after 4")
        with open(self.path("dev"), "w", encoding="utf-8") as file:
            file.write(text)
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        self.provide("apt-get", "#!/usr/bin/bash\nexit 1\n")
        self.provide("bazel", "#!/usr/bin/bash\ntrap 'exit 8' INT TERM; sleep 1000 & wait\n")
        result = self.dev("verify", "--begin-within", "1")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("== compile: not finished after ", result.stdout)
        stages = re.findall(r"^   not run (.*)$", result.stdout, re.MULTILINE)
        self.assertEqual((stages[0], "static analysis" in stages), ("tests", True), result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], f"0 passed, {1 + len(stages)} failed")

    def test_objects_outlive_another_package(self):
        self.provide("dpkg-query", "#!/usr/bin/bash\necho installed; printf 'g++ 12\\nliba-dev 1\\n'\n")
        self.dev("build")
        objects = self.path("home/.cache/sideband/objects")
        (first,) = (name for name in os.listdir(objects) if not name.endswith(".packages"))
        with open(os.path.join(objects, first, "object"), "w", encoding="utf-8") as file:
            file.write("compiled")
        for packages, is_kept in (("g++ 12\\nliba-dev 1\\nlibb-dev 1", True), ("g++ 13\\nliba-dev 1", False)):
            known = set(os.listdir(objects))
            self.provide("dpkg-query", "#!/usr/bin/bash\necho installed; printf '%s\\n'\n" % packages)
            self.dev("build")
            (state,) = (name for name in set(os.listdir(objects)) - known if not name.endswith(".packages"))
            self.assertEqual(os.listdir(os.path.join(objects, state)), ["object"] if is_kept else [], packages)

    def test_a_bmc_is_played_unless_the_demo_is_of_a_waveform(self):
        self.provide("dpkg-query", EVERYTHING_INSTALLED)
        os.makedirs(self.path("bazel-bin/client"))
        self.provide("../bazel-bin/client/sideband", RECORD)
        waveform = ("--trace", "t.vcd", "--signals", "s.yaml", "--schedule", "s.csv")
        mock = os.path.realpath(self.path("tests/bmc/mock_bmc.py"))
        for arguments, passed in ((("--once",), ("--bmc", mock, "--once")), (waveform, waveform)):
            result = self.dev("demo", *arguments)
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(self.asked()[-1], "sideband demo " + " ".join(passed))

    def test_mistakes(self):
        for arguments in (("nonsense",), ("setup", "everything"), ("setup", "test", "bench"), ("fuzz", "0"),
                          ("verify", "--begin-within", "x"), ("times", "now"), ("fmt", "--chek"), ("demo", "--onse")):
            result = self.dev(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr, r"\Adev: [^\n]+; `\./dev help` lists the verbs\n\Z")


class CountResultsTest(programs.ProgramTestCase):
    """tests/count_results.py, with what Bazel and the test programs write."""
    # Of a program without an XML file of its own.
    OF_BAZEL = ('<testsuites><testsuite name="x" tests="1" failures="0" errors="0"><testcase name="x" status="run"/>'
                "<system-out>\nGenerated test.log:\n<![CDATA[%s]]></system-out></testsuite></testsuites>")

    def count(self, *tests, built=True):
        """(standard output, standard error) of (status, XML) of each test."""
        events = [{"id": {"targetCompleted": {}}, "completed": {"success": True} if built else {}}]
        for number, (status, xml) in enumerate(tests):
            self.write("%d test.xml" % number, xml)
            uri = "file://" + self.path("%d%%20test.xml" % number)
            outputs = [{"name": "test.log", "uri": "file:///none"}, {"name": "test.xml", "uri": uri}]
            events.append({"testResult": {"status": status, "testActionOutput": outputs}})
        self.write("events", "".join(json.dumps(event) + "\n" for event in events))
        result = programs.run("/usr/bin/python3", "-B", programs.runfile("tests/count_results.py"), "events", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result)
        return result.stdout, result.stderr

    def test_cases(self):
        xml = ('<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>'
               '<testcase name="c" result="skipped"><skipped message="x_test.cc:7&#x0A;needs root&#x0A;"/></testcase>'
               '<testcase name="d"><skipped message="no Prometheus">no Prometheus</skipped></testcase>'
               '<testcase name="e"><skipped/></testcase></testsuite></testsuites>')
        self.assertEqual(self.count(("FAILED", xml), ("PASSED", xml.replace("<failure/>", ""))), (
            "3 1 6\n", "   skipped 2: needs root\n   skipped 2: no Prometheus\n   skipped 2: the test says no reason\n"))

    def test_a_program_without_cases_is_one(self):
        self.assertEqual(self.count(("PASSED", self.OF_BAZEL % "all is well\n")), ("1 0 0\n", ""))
        failed = (self.OF_BAZEL % "it is not\n").replace('status="run"/>', 'status="run"><error/></testcase>')
        self.assertEqual(self.count(("FAILED", failed)), ("0 1 0\n", ""))
        self.assertEqual(self.count(built=False), ("0 1 0\n", ""))

    def test_unittest_counts_its_own(self):
        log = ("test_a (x.A.test_a) ... ok\ntest_b (x.A.test_b)\nDoes it. ... skipped 'promtool is not installed'\n"
               'test_c (x.A.test_c) ... skipped "it\'s not here"\n\n---\nRan 3 tests in 0.1s\n\nOK (skipped=2)\n')
        self.assertEqual(self.count(("PASSED", self.OF_BAZEL % log)),
                         ("1 0 2\n", "   skipped 1: it's not here\n   skipped 1: promtool is not installed\n"))
        self.assertEqual(self.count(("PASSED", self.OF_BAZEL % "Ran 5 tests in 2.5s\n\nOK\n")), ("5 0 0\n", ""))
        self.assertEqual(self.count(("FAILED", self.OF_BAZEL % "Ran 5 tests in 2s\n\nFAILED (failures=1, errors=1)\n")),
                         ("3 2 0\n", ""))
        self.assertEqual(self.count(("PASSED", self.OF_BAZEL % "s\nRan 1 test in 0.0s\n\nOK (skipped=1)\n")),
                         ("0 0 1\n", "   skipped 1: the test says no reason\n"))
        expected = "Ran 4 tests in 2s\n\n%s\n"
        self.assertEqual(self.count(("PASSED", self.OF_BAZEL % expected % "OK (expected failures=1)")), ("4 0 0\n", ""))
        failed = expected % "FAILED (failures=1, expected failures=1, unexpected successes=1)"
        self.assertEqual(self.count(("FAILED", self.OF_BAZEL % failed)), ("2 2 0\n", ""))
