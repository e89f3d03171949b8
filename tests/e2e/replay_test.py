# SPDX-License-Identifier: Apache-2.0
"""The contract of `sideband-mcu replay`: exact counts for good input, one line for bad input."""

import gzip
import json
import lzma
import os
import re
import shutil
import unittest

import programs

# A clock of 20 cycles; `busy` is high in the odd ones, `mode` counts cycles modulo 4.
TRACE = ("$timescale 1ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n$var wire 1 % busy $end\n"
         "$var wire 2 & mode [1:0] $end\n$upscope $end\n$enddefinitions $end\n") + "".join(
             "#{}\n0!\n{}%\nb{:b} &\n#{}\n1!\n".format(10 * cycle, cycle % 2, cycle % 4, 10 * cycle + 5)
             for cycle in range(20))
SIGNALS = """{
 "clock": "top.clk",
 "events": [
  {"name": "busy_cycles", "signal": "top.busy", "op": "high"},
  {"name": "mode_sum", "signal": "top.mode", "op": "value"},
  {"name": "mode_three", "signal": "top.mode", "op": "equals", "value": 3}
 ]
}
"""
SCHEDULE = "start_cycle,end_cycle,vm,context\n0,4,vm1,train\n6,16,vm2,serve\n"


class ReplayTestCase(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        self.write("t.vcd", TRACE)
        self.write("s.json", SIGNALS)
        self.write("c.csv", SCHEDULE)

    def replay(self, *more, signals="s.json", trace="t.vcd", schedule="c.csv"):
        return programs.run("sideband-mcu", "replay", "--signals", signals, "--trace", trace, "--schedule", schedule,
                            *more, cwd=self.folder)

    @staticmethod
    def errors(result):
        """The errors without warnings, which random waveforms may cause."""
        return [line for line in result.stderr.splitlines() if not line.startswith("sideband-mcu: warning: ")]

    def blocks(self, result):
        """({(vm, context): counters}, number of cycles) of a successful replay."""
        self.assertEqual((result.returncode, self.errors(result)), (0, []))
        output = json.loads(result.stdout)
        found = {(block["vm"], block["context"]): {event: int(count) for event, count in block["counters"].items()}
                 for block in output["blocks"]}
        self.assertEqual(len(found), len(output["blocks"]), "a block is there twice")
        self.assertTrue(all(block["flags"] == [] for block in output["blocks"]), "all counts are exact")
        return found, int(output["cycles"])


class ReplayTest(ReplayTestCase):
    def test_small_trace_by_hand(self):
        def row(busy, mode_sum, mode_three):
            return {"busy_cycles": busy, "mode_sum": mode_sum, "mode_three": mode_three}

        blocks, cycles = self.blocks(self.replay())
        self.assertEqual(cycles, 20)
        self.assertEqual(blocks, {
            ("vm0", None): row(7, 23, 4),  # the cycles in which any context was resident
            ("vm1", None): row(2, 6, 1),  # cycles 0 to 3
            ("vm1", "train"): row(2, 6, 1),
            ("vm2", None): row(5, 17, 3),  # cycles 6 to 15: 2 3 0 1 2 3 0 1 2 3
            ("vm2", "serve"): row(5, 17, 3),
        })

    def test_gzip_is_the_same(self):
        self.write("t.vcd.gz", gzip.compress(TRACE.encode()))
        self.assertEqual(self.blocks(self.replay(trace="t.vcd.gz")), self.blocks(self.replay()))

    def test_warnings(self):
        """Causes of zero counts are reported as warnings, without any other effect."""
        self.write("c.csv", "start_cycle,end_cycle,vm,context\n20,30,vm1,train\n")
        result = self.replay()
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "sideband-mcu: warning: c.csv: every residency begins after the trace, which ends "
                                        "with cycle 19: all VMs count 0 (are these times, not cycles?)\n"
                                        "sideband-mcu: warning: s.json:2: the clock 'top.clk' rises only 20 times\n")
        self.assertEqual(json.loads(result.stdout)["blocks"][1]["counters"]["mode_sum"], 0)

    def test_a_cut_trace_is_warned_of(self):
        """A trace that ends in its cycle 10, within a line: what is there is counted."""
        self.write("t.vcd", TRACE[:TRACE.index("#110\n") + len("#110\n0!")])
        result = self.replay()
        self.assertEqual(result.returncode, 0)
        line = TRACE[:TRACE.index("#110\n")].count("\n") + 2
        self.assertEqual(result.stderr.splitlines(), [
            "sideband-mcu: warning: t.vcd:%d: the last line has no line end: the trace may be cut off" % line,
            "sideband-mcu: warning: c.csv:3: the residency ends with cycle 15, the trace with cycle 10: what is missing "
            "counts 0"])

    def test_what_spreadsheets_quote(self):
        self.write("c.csv", "".join(",".join('"%s"' % field for field in line.split(",")) + "\r\n"
                                    for line in SCHEDULE.splitlines()))
        quoted = self.blocks(self.replay())
        self.write("c.csv", SCHEDULE)
        self.assertEqual(quoted, self.blocks(self.replay()))

    def test_fst_without_its_program(self):
        self.write("t.fst", b"\0\0\0\0\0\0\0\1\x49")
        if shutil.which("fst2vcd", path="/usr/bin:/bin"):
            self.skipTest("fst2vcd is installed")
        self.assert_refused(self.replay(trace="t.fst"), 2, "sideband-mcu: t.fst: ", "fst2vcd", "gtkwave")

    def test_is_deterministic(self):
        first, second = self.replay(), self.replay()
        self.assertEqual(first.returncode, 0)
        self.assertEqual(first.stdout, second.stdout)

    def test_table(self):
        result = self.replay("--format", "table")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(lines[0], ["20", "cycles"])
        self.assertIn(["event", "vm0", "vm1", "vm1/train", "vm2", "vm2/serve"], lines)
        self.assertIn(["mode_sum", "23", "6", "6", "17", "17"], lines)

    def test_more_columns_and_spaces_are_harmless(self):
        self.write("c.csv", "kernel,vm,context,start_cycle,end_cycle\nx, vm1 ,train,0,4\ny,vm2,serve,6,16\n")
        self.assertEqual(self.blocks(self.replay())[0]["vm2", None]["mode_sum"], 17)


@unittest.skipUnless(os.environ.get("SIDEBAND_SHARED_DATA"), "SIDEBAND_SHARED_DATA is not set: no reference waveforms")
class ReferenceWaveformTest(ReplayTestCase):
    """Waveforms of a real design, counted by an independent script."""

    def check(self, name):
        folder = os.environ["SIDEBAND_SHARED_DATA"]
        with open(os.path.join(folder, name + ".expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        blocks, cycles = self.blocks(
            self.replay(signals=os.path.join(folder, "tinygpu.signals.json"),
                        trace=os.path.join(folder, name + ".vcd.gz"),
                        schedule=os.path.join(folder, name + ".schedule.csv")))
        self.assertEqual(cycles, expected["cycles"])
        self.assertEqual(blocks, {(block["vm"], block["context"]): block["counters"] for block in expected["blocks"]})

    def test_tinygpu_small(self):
        self.check("tinygpu-small")

    def test_tinygpu(self):
        self.check("tinygpu")


@unittest.skipUnless(os.environ.get("SIDEBAND_SHARED_DATA"), "SIDEBAND_SHARED_DATA is not set: no reference waveforms")
class WaveformsPageTest(programs.ProgramTestCase):
    """docs/waveforms.md: the files that it shows, and each command with exactly what it prints: in a `console` block, or
    in an `sh` block with the output in the next block."""

    def setUp(self):
        super().setUp()
        with open(programs.runfile("docs/waveforms.md"), encoding="utf-8") as file:
            self.page = file.read()
        # As beside a clone.
        self.clone = self.path("main")
        os.makedirs(os.path.join(self.clone, "tests/lab/experiments"))
        os.mkdir(self.path("shared"))
        os.symlink(os.environ["SIDEBAND_SHARED_DATA"], self.path("shared/data"))
        script = "tests/lab/experiments/signals.py"
        os.symlink(programs.runfile(script), os.path.join(self.clone, script))
        for name, text in re.findall(r"`(\w+\.\w+)`:\n```\w*\n(.*?)^```$", self.page, re.MULTILINE | re.DOTALL):
            self.write(os.path.join("main", name), text)

    def commands(self):
        """[(command, what it prints)]"""
        lines = r"((?:(?!```)[^\n]*\n)*)```\n"
        blocks = r"^```console\n%s|^```sh\n%s```\n%s" % (lines, lines, lines)
        commands = []
        for prompted, script, output in re.findall(blocks, self.page, re.MULTILINE):
            commands += [(script, output)] if script else [
                re.fullmatch(r"([^\n]*\n)(.*)", text, re.DOTALL).groups()
                for text in re.split(r"^\$ ", prompted, flags=re.MULTILINE)[1:]]
        return commands

    def test_commands_print_what_the_page_shows(self):
        commands = self.commands()
        self.assertGreater(len(commands), 6)
        path = os.path.dirname(programs.program_path("sideband-mcu")) + ":/usr/bin:/bin"
        for command, output in commands:
            with self.subTest(command):
                result = programs.run("/bin/bash", "-c", "exec 2>&1\n" + command, cwd=self.clone,
                                      environment={"PATH": path})
                self.assertEqual((result.returncode, result.stdout), (0, output))

    def test_the_chip_file_is_one(self):
        result = programs.run("sideband-mcu", "describe", "--chip", "tinygpu.yaml", cwd=self.clone)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("6 events, 2 VMs, 3 contexts", result.stdout)


class BadInputTest(ReplayTestCase):
    """Each input is rejected with exit status 2 and one line with the file, the line number if any, and the reason."""

    def refused(self, start, *words, **files):
        self.assert_refused(self.replay(**files), 2, "sideband-mcu: " + start + ": ", *words)

    def test_missing_trace(self):
        self.refused("absent.vcd", "No such file", trace="absent.vcd")

    def test_missing_signals(self):
        self.refused("absent.json", "No such file", signals="absent.json")

    def test_missing_schedule(self):
        self.refused("absent.csv", "No such file", schedule="absent.csv")

    def test_trace_is_a_directory(self):
        self.refused("/:1", "Is a directory", trace="/")

    def test_signals_is_a_directory(self):
        self.refused("/", "is a directory", signals="/")

    def test_schedule_is_a_directory(self):
        self.refused("/", "is a directory", schedule="/")

    def test_empty_trace(self):
        self.write("t.vcd", "")
        self.refused("t.vcd:1", "empty")

    def test_gzip_cut_off(self):
        packed = gzip.compress(TRACE.encode() * 2)
        self.write("t.vcd.gz", packed[:len(packed) // 2])
        self.refused("t.vcd.gz:1", "cut off", trace="t.vcd.gz")

    def test_xz_is_named(self):
        self.write("t.vcd.xz", lzma.compress(TRACE.encode()))
        self.refused("t.vcd.xz", "this is an xz file", "xz -dc", trace="t.vcd.xz")

    def test_gzip_damaged(self):
        packed = bytearray(gzip.compress(os.urandom(4096)))
        packed[-6] ^= 1  # a bit of the checksum
        self.write("t.vcd.gz", bytes(packed))
        result = self.replay(trace="t.vcd.gz")
        self.assert_refused(result, 2, "sideband-mcu: t.vcd.gz")

    def test_binary_trace(self):
        self.write("t.vcd", bytes(range(256)) * 16)
        result = self.replay()
        self.assert_refused(result, 2, "sideband-mcu: t.vcd:")
        self.assertTrue(result.stderr[:-1].isprintable())

    def test_header_cut_off(self):
        self.write("t.vcd", TRACE[:TRACE.index("$var wire 2")])
        self.refused("t.vcd:5", "the file ends before $enddefinitions")

    def test_declaration_cut_off(self):
        self.write("t.vcd", TRACE[:TRACE.index("& mode")])
        self.refused("t.vcd:5", "the file ends")

    def test_malformed_change(self):
        self.write("t.vcd", TRACE.replace("#20\n0!", "#20\n7!"))
        self.refused("t.vcd:%d" % (TRACE[:TRACE.index("#20\n")].count("\n") + 2), "'7!'")

    def test_unknown_code(self):
        self.write("t.vcd", TRACE.replace("#20\n0!", "#20\n0?"))
        self.refused("t.vcd:%d" % (TRACE[:TRACE.index("#20\n")].count("\n") + 2), "unknown identifier code", "'?'")

    def test_time_goes_backwards(self):
        self.write("t.vcd", TRACE + "#3\n")
        self.refused("t.vcd:%d" % (TRACE.count("\n") + 1), "time goes backwards")

    def test_unknown_signal_names_the_nearest(self):
        self.write("s.json", SIGNALS.replace("top.busy", "top.bussy"))
        self.refused("s.json:4", "no signal 'top.bussy'", "'top.busy'?")

    def test_unknown_clock_names_the_nearest(self):
        self.write("s.json", SIGNALS.replace("top.clk", "top.clock"))
        self.refused("s.json:2", "no signal 'top.clock'", "'top.clk'?")

    def test_unknown_op_names_the_nearest(self):
        self.write("s.json", SIGNALS.replace("equals", "equal"))
        self.refused("s.json:6", "unknown op 'equal'", "'equals'?")

    def test_unknown_key_names_the_nearest(self):
        self.write("s.json", SIGNALS.replace('"signal": "top.busy"', '"signl": "top.busy"'))
        self.refused("s.json:4", "signl", "'signal'?")

    def test_signals_are_not_json(self):
        self.write("s.json", SIGNALS[:-5])
        result = self.replay()
        self.assert_refused(result, 2, "sideband-mcu: s.json:")

    def test_overlapping_residencies(self):
        self.write("c.csv", SCHEDULE.replace("6,16", "3,16"))
        self.refused("c.csv:3", "starts at cycle 3", "line 2", "ends at 4")

    def test_hypervisor_in_the_schedule(self):
        self.write("c.csv", SCHEDULE.replace("vm2", "vm0"))
        self.refused("c.csv:3", "vm0 is the hypervisor, which has no contexts")

    def test_backwards_residency(self):
        self.write("c.csv", SCHEDULE.replace("6,16", "16,6"))
        self.refused("c.csv:3", "start_cycle 16 is not below end_cycle 6")

    def test_not_a_number_in_the_schedule(self):
        self.write("c.csv", SCHEDULE.replace("6,16", "6,-1"))
        self.refused("c.csv:3", "end_cycle", "'-1'")

    def test_missing_column_names_the_nearest(self):
        self.write("c.csv", SCHEDULE.replace("end_cycle", "endcycle"))
        self.refused("c.csv:1", "no column 'end_cycle'", "'endcycle'?")

    def test_row_cut_off(self):
        self.write("c.csv", SCHEDULE.replace(",serve", ""))
        self.refused("c.csv:3", "expected 4 fields", "not 3")

    def test_empty_schedule(self):
        self.write("c.csv", "")
        self.refused("c.csv:1", "header row is missing")

    def test_slice_out_of_range(self):
        self.write("c.csv", "start_cycle,end_cycle,vm,context,slice\n0,4,vm1,train,64\n")
        self.refused("c.csv:2", "slice")


class UsageTest(ReplayTestCase):
    def refused(self, *arguments, word):
        self.assert_refused(programs.run("sideband-mcu", *arguments, cwd=self.folder), 2, "sideband-mcu: ", word)

    def test_unknown_option(self):
        self.assert_refused(self.replay("--colour"), 2, "sideband-mcu: ", "--colour")

    def test_unknown_format(self):
        self.assert_refused(self.replay("--format", "xml"), 2, "sideband-mcu: ", "--format")

    def test_missing_option(self):
        self.refused("replay", "--trace", "t.vcd", "--schedule", "c.csv", word="--signals")

    def test_option_without_value(self):
        self.refused("replay", "--signals", word="--signals")

    def test_unknown_subcommand(self):
        self.refused("repaly", word="(did you mean 'replay'?)")

    def test_no_subcommand(self):
        self.refused(word="subcommand")
