# SPDX-License-Identifier: Apache-2.0
"""`sideband demo`: its output, its end on a signal, and the absence of leftovers."""

import glob
import os
import re
import signal
import unittest

import programs


# 2000 cycles.
BUSY_VCD = ("$timescale 1ns $end $scope module t $end $var wire 1 c clk $end $var wire 1 b busy $end "
            "$upscope $end $enddefinitions $end\n#0 0c 1b\n" +
            "".join("#%d %dc\n" % (10 * half, half % 2) for half in range(1, 4001)))

WITH_BMC = ("--bmc", programs.runfile("tests/bmc/mock_bmc.py"))


class DemoTest(programs.ProgramTestCase):
    """The demonstration's temporary folder is inside the test's, whose path identifies all of its processes."""

    def setUp(self):
        super().setUp()
        self.environment = {"TMPDIR": self.folder}

    def demo(self, *arguments):
        return programs.run("sideband", "demo", *arguments, cwd=self.folder, environment=self.environment)

    def stay(self, *arguments):
        return self.start("sideband", "demo", *arguments, environment=self.environment)

    def processes(self):
        """The running processes that have inherited the demonstration's environment."""
        mark = ("TMPDIR=" + self.folder + "\0").encode()
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as file:
                    if mark in file.read():
                        found.append(path)
            except OSError:
                continue  # the process has ended, or belongs to another user
        return found

    def assert_nothing_left(self):
        self.assertEqual(self.processes(), [])
        self.assertEqual(glob.glob(self.path("sideband-demo-*")), [])

    def test_once(self):
        result = self.demo("--once")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        for words in ('sideband_device_up{device="gpu0"} 1', 'vm="vm3"', 'confidential="true"', "train", "serve",
                      "no such device, VM, context or event", "opens a sealed record", "finetune",
                      "guests/vm1.train.sock", "guests/vm1.kernel.sock", 'gate_group="tlb"} 1', 'gate_group="tensor"} 1',
                      "selected           0  the VM's selection 0 ('tensor') does not have it"):
            self.assertIn(words, result.stdout)
        self.assertTrue(result.stdout.endswith("\nEverything was as expected.\n"), result.stdout[-200:])
        # From the second snapshot on there are rates and utilisations.
        self.assertRegex(result.stdout, r"rates over [\d.]+ s\n    VM +CONTEXT +EVENT +COUNT +RATE +UTIL [^\n]*\n"
                         r"    vm1 +- +tensor_active_cycles +[\d,]+ +[\d.]+ [kMG]?/s +[\d.]+ %")
        self.assertNotRegex(result.stdout, r"\bcd ", "the folder is gone when it can be read")
        self.assertNotIn("localhost", result.stdout, "a name that not every machine resolves")
        self.assert_nothing_left()

    def test_estimates_are_beside_the_truth(self):
        """Exact, estimated and derived events of gpu1, within their bounds of what its twin counted of the same work."""
        shown = self.demo("--once").stdout
        rows = [line.split() for line in shown.splitlines() if line.endswith(" %  yes")]
        self.assertEqual(len(rows), 8, shown)
        estimates = {row[0]: row for row in rows if row[1].startswith("~")}
        self.assertEqual(set(row[0] for row in rows) - set(estimates),
                         {"instructions_issued_cycles", "instructions_retired_cycles"}, "always, and derived from it")
        self.assertEqual(estimates["tensor_issued_cycles"][1:], estimates["tensor_active_cycles"][1:], "derived")
        for name, (_, shown_count, half, coverage, percent, *bounds, off, _, _) in estimates.items():
            lower, upper, truth = (int(number.replace(",", "")) for number in bounds)
            self.assertTrue(lower <= truth <= upper, name)
            self.assertLess(lower, truth, "a part was not counted")
            self.assertTrue(half.startswith("±") and percent == "%" and 10 < float(coverage) < 60, name)
            count = int(shown_count.lstrip("~").replace(",", ""))
            self.assertAlmostEqual(100 * (count - truth) / truth, float(off), delta=0.06)
        self.assertRegex(shown, r"\n    \d\d of 40 events within 10 % of the truth, 40 of 40 within their bounds, 38 estimated")

    def test_a_board_is_beside_the_devices_with_counters(self):
        """Its sensors are the operator's: what it measures is of everybody on it."""
        shown = self.demo("--once").stdout
        self.assertRegex(shown, r"\n    gpu0 +fresh +counters\+board +250ms +1\.40 GHz  [0-9a-f]{16}\n")
        self.assertRegex(shown, r"\n    gpu3 +fresh +board +250ms +-  -\n")
        values = dict(re.findall(r'\n    (sideband_\w+\{device="gpu3"[^}]*\}) ([-.\d]+)', shown))
        self.assertTrue(28 <= float(values['sideband_temperature_celsius{device="gpu3",sensor="gpu"}']) <= 97, values)
        self.assertTrue(65 <= float(values['sideband_power_watts{device="gpu3",sensor="total"}']) <= 450, values)
        self.assertEqual(values['sideband_power_limit_watts{device="gpu3",kind="current",sensor="total"}'], "400")
        for partition in "12":
            name = 'sideband_partition_sm_activity_ratio{device="gpu3",partition="%s"}' % partition
            self.assertTrue(0 <= float(values[name]) <= 1, values)
        self.assertIn("\nLines of gpu3 in tenant-a's scrape: none\n", shown)

    def test_gpus_behind_a_bmc(self):
        """The boards and the tenants see no difference."""
        result = self.demo("--once", *WITH_BMC)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        for gpu in ("hgx-gpu1", "hgx-gpu2"):
            self.assertRegex(result.stdout, r"\n    %s  fresh +board +5s +-  -\n" % gpu)
        self.assertIn("\nTwo GPUs, hgx-gpu1 and hgx-gpu2, are read through the Redfish service of a BMC, which a mock "
                      "plays here\n", result.stdout)
        values = dict(re.findall(r"\n    hgx-gpu1  (\w+ +\S+) +([\d.]+) \S+(?=\n)", result.stdout))
        values = {" ".join(name.split()): float(value) for name, value in values.items()}
        self.assertEqual(sorted(values), ["board_tensor_activity -", "energy sensor=total", "power sensor=memory",
                                          "power sensor=total", "temperature sensor=gpu", "temperature sensor=memory"])
        self.assertTrue(0 < values["board_tensor_activity -"] <= 100, values)
        self.assertTrue(50 <= values["power sensor=total"] <= 750, values)
        self.assertTrue(20 <= values["temperature sensor=gpu"] <= 100, values)
        self.assertTrue(result.stdout.endswith("\nEverything was as expected.\n"), result.stdout[-200:])
        self.assert_nothing_left()

    def test_a_bmc_that_ends(self):
        self.write("bmc", "#!/bin/sh\necho no certificate >&2\nexit 1\n")
        os.chmod(self.path("bmc"), 0o755)
        self.assert_refused(self.demo("--once", "--bmc", "bmc"), 1, "sideband: bmc ended: no certificate; ")
        (folder,) = glob.glob(self.path("sideband-demo-*"))
        self.assertEqual({os.path.splitext(name)[1] for name in os.listdir(folder)}, {".log"})
        self.assertEqual(self.processes(), [])

    def test_a_bmc_that_is_no_program(self):
        for path, reason in (("absent", "No such file"), ("bmc", "Permission denied")):
            self.write("bmc", "")
            self.assert_refused(self.demo("--once", "--bmc", path), 2, "sideband: %s: " % path, reason)
        self.assert_nothing_left()

    def test_failure_keeps_the_logs_and_nothing_else(self):
        """A scrape fails here, because curl is replaced by another program."""
        self.write("curl", """#!/bin/sh
case "$*" in
*/-/ready) exit 0 ;;
*) echo "curl: (6) Could not resolve host" >&2; exit 6 ;;
esac
""")
        os.chmod(self.path("curl"), 0o755)
        self.environment["PATH"] = self.folder + ":/usr/bin:/bin"
        result = self.demo("--once")
        self.assertIn("curl: (6) Could not resolve host\n", result.stdout)
        (folder,) = glob.glob(self.path("sideband-demo-*"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Asideband: the demonstration failed at [^\n]*\n\Z")
        self.assertTrue(result.stderr.endswith("; the programs' logs are kept in " + folder + "\n"), result.stderr)
        self.assertEqual(sorted(os.listdir(folder)), ["sideband-mcu-gpu0.log", "sideband-mcu-gpu1.log",
                                                      "sideband-mcu-gpu2.log", "sideband-mcu-gpu3.log",
                                                      "sidebandd.log"])
        self.assertEqual(self.processes(), [])

    def test_a_tmpdir_that_is_not_there(self):
        self.environment["TMPDIR"] = "/nope"
        self.assert_refused(self.demo("--once"), 2, "sideband: TMPDIR=/nope: ")

    @unittest.skipUnless(os.environ.get("SIDEBAND_SHARED_DATA"), "SIDEBAND_SHARED_DATA is not set: no waveform")
    def test_once_on_a_waveform(self):
        folder = os.environ["SIDEBAND_SHARED_DATA"]
        result = self.demo("--once", "--trace", os.path.join(folder, "tinygpu-small.vcd.gz"), "--signals",
                           os.path.join(folder, "tinygpu.signals.json"), "--schedule",
                           os.path.join(folder, "tinygpu-small.schedule.csv"))
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        for words in ("ctx0", "ctx1", "core0_", "opens a sealed record", "ctx2"):
            self.assertIn(words, result.stdout)
        self.assertTrue(result.stdout.endswith("\nEverything was as expected.\n"), result.stdout[-200:])
        self.assert_nothing_left()

    def test_once_on_a_waveform_of_one_vm(self):
        """A design may have no VMs: all of its cycles are of one, which may have no context."""
        self.write("busy.vcd", BUSY_VCD)
        self.write("map.yaml", "clock: t.clk\nevents:\n  - {name: busy_cycles, signal: t.busy, op: high}\n")
        for row in ("0,2000,vm1,", "0,2000,vm1,job"):
            self.write("schedule.csv", "start_cycle,end_cycle,vm,context\n%s\n" % row)
            result = self.demo("--once", "--trace", "busy.vcd", "--signals", "map.yaml", "--schedule", "schedule.csv")
            self.assertEqual(result.returncode, 0, (row, result))
            self.assertIn("Everything was as expected.", result.stdout)

    def test_once_on_a_waveform_with_a_device_event(self):
        """Beside a confidential VM such an event does not show: the demo takes another, or says what is missing."""
        self.write("busy.vcd", BUSY_VCD)
        self.write("schedule.csv", "start_cycle,end_cycle,vm,context\n0,1000,vm1,job\n1000,2000,vm2,job\n")
        device = "clock: t.clk\nevents:\n  - {name: all_busy_cycles, signal: t.busy, op: high, scope: device}\n"
        waveform = ("--trace", "busy.vcd", "--signals", "map.yaml", "--schedule", "schedule.csv")
        self.write("map.yaml", device + "  - {name: busy_cycles, signal: t.busy, op: high}\n")
        result = self.demo("--once", *waveform)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("vm2, the last VM of the schedule to appear, is confidential here: ", result.stdout)
        self.assertIn("not searched: no count is above 2^32 yet", result.stdout, "no search for nothing")
        self.assertNotIn("0 of 0", result.stdout)
        self.write("map.yaml", device)
        result = self.demo("--once", *waveform)
        self.assertEqual(result.returncode, 2, result)
        self.assertRegex(result.stderr, r"\Asideband: map.yaml: the demonstration needs an event that happens [^\n]*\n\Z")

    def test_missing_trace(self):
        self.write("s.json", '{"clock": "top.clk", "events": [{"name": "a", "signal": "top.a", "op": "high"}]}')
        self.write("c.csv", "start_cycle,end_cycle,vm,context\n0,4,vm1,train\n")
        result = self.demo("--once", "--trace", "absent.vcd", "--signals", "s.json", "--schedule", "c.csv")
        self.assert_refused(result, 2, "sideband: absent.vcd: ", "No such file")
        self.assert_nothing_left()

    def test_trace_without_schedule(self):
        self.assert_refused(self.demo("--once", "--trace", "t.vcd", "--signals", "s.json"), 2, "sideband: ",
                            "--schedule")

    def check_ways_in(self, log):
        """What is printed at the end can be copied: all but `top`, which needs a terminal."""
        end = log[log.index("The demo runs until Ctrl-C."):]
        commands = re.findall(r"^  (.*)\n", end, re.MULTILINE)
        self.assertEqual([re.split("[ =]", command)[0] for command in commands],
                         ["cd", "PATH", "sideband", "curl", "openssl"])
        self.assertTrue(commands.pop(2).endswith(" top"), commands)
        (page,) = re.findall(r"https://127\.0\.0\.1:\d+/ ", end)
        commands.append("curl -sSf --cacert ca.pem --cert-type P12 --cert operator.p12:demo " + page)
        result = programs.run("/bin/sh", "-ec", "\n".join(commands), cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout[-400:])
        self.assertIn("sideband_device_up", result.stdout)
        self.assertIn("<html", result.stdout.lower())
        self.assertIn("\ngpu1 and gpu2 stand still at 0 %: ", end)

    def check_stays_until(self, number, *arguments):
        demo = self.stay(*arguments)
        programs.wait_until(lambda: "until Ctrl-C" in demo.log() or demo.ended(), "the demo is ready")
        self.assertFalse(demo.ended(), demo.log())
        self.assertGreaterEqual(len(self.processes()), 2)
        self.check_ways_in(demo.log())
        demo.signal(number)
        self.assertEqual(demo.wait(), 0, demo.log())
        self.assert_nothing_left()

    def test_stays_until_ctrl_c(self):
        self.check_stays_until(signal.SIGINT)

    def test_stays_until_sigterm(self):
        self.check_stays_until(signal.SIGTERM, *WITH_BMC)

    def test_killed(self):
        """After SIGKILL only files remain, no processes."""
        demo = self.stay(*WITH_BMC)
        programs.wait_until(lambda: "until Ctrl-C" in demo.log() or demo.ended(), "the demo is ready")
        demo.kill()
        programs.wait_until(lambda: not self.processes(), "its programs have ended")
