#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What the register read path costs in hardware: no longer paths, and the flip-flops that `describe` says."""

import json
import os
import subprocess
import sys
import unittest

import synthesis

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_MODULE_BITS, _EXTEND_BITS = 11, 6
_MODULE_VM, _MODULE_DEVICE = 64, 128


def describe(chip):
    """What `sideband-mcu describe` says of a chip file."""
    result = subprocess.run(["secure_mcu/sideband-mcu", "describe", "--chip", chip, "--format", "json"], cwd=_RUNFILES,
                            stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)


def vector(numbers, bits):
    """A parameter, from the last number to the first."""
    return "%d'b%s" % (bits * len(numbers), "".join(format(number, "0%db" % bits) for number in reversed(numbers)))


def device_parameters(slices, events):
    """Of the read path of a device with at most 64 events."""
    every = range(slices)
    modules = [*every, *(_MODULE_VM + slice_ for slice_ in every), _MODULE_DEVICE]
    return {"CLIENTS": slices + 1, "CLIENT_SLICES": vector([*every, 0], 6), "MANAGERS": len(modules),
            "MANAGER_IDS": vector([module << _EXTEND_BITS for module in modules], _MODULE_BITS + _EXTEND_BITS),
            "MANAGER_COUNTERS": vector([events] * len(modules), 7)}


def select(top, parameters, selection):
    """The wires of a module that yosys selects; %cie and %coe are what combinational paths come from and reach."""
    listed = synthesis.run(top, parameters, "prep -flatten", "select -list " + selection)
    return {line.split("/")[1] for line in listed.splitlines() if line.startswith(top + "/")}


class PathsTest(unittest.TestCase):
    """The longest combinational path, after a mapping that shortens paths where it can."""

    def check(self, top, parameters):
        without, with_it = synthesis.without_and_with(top, parameters)
        synthesis.report("rtl: %s, longest path" % top, "levels", [without.levels, with_it.levels])
        self.assertGreater(without.levels, 10)
        self.assertEqual(without.levels, with_it.levels)
        self.assertGreaterEqual(with_it.flip_flops, without.flip_flops)

    def test_core(self):
        self.check("core", {})

    def test_core_with_caches_and_counters(self):
        self.check("soc", {"CORES": 1, **synthesis.SMALL_CACHES})


class CoreTest(unittest.TestCase):
    """What the core asks of its client is in registers, and so is the result."""

    def select(self, selection):
        return select("core", {}, selection)

    def test_no_path_from_execution_to_accesses(self):
        wires = "w:rs1_value w:rs2_value w:alu_result w:sum"
        self.assertEqual(self.select("o:access_* %%cie* %s %%u %%u %%u %%i" % wires), set())

    def test_no_path_from_results_to_execution(self):
        self.assertEqual(self.select("i:access_result %coe* w:rd_value w:next_state o:* %u %u %i"), set())

    def test_faults_end_the_program(self):
        """A path that is there."""
        self.assertEqual(self.select("i:access_fault %coe* w:next_state %i"), {"next_state"})


class InterconnectTest(unittest.TestCase):
    def select(self, selection):
        parameters = device_parameters(slices=2, events=17)
        parameters = {name: parameters[name] for name in ("CLIENTS", "MANAGERS", "MANAGER_IDS")}
        return select("hpc_interconnect", parameters, selection)

    def test_no_path_from_clients_to_managers(self):
        self.assertEqual(self.select("i:request_* %coe* o:* %i"), set())

    def test_no_path_to_clients(self):
        self.assertEqual(self.select("o:answer_* %cie* i:* %i"), set())

    def test_grants_depend_on_managers_that_are_free(self):
        """A path that is there: within the arbiter of a manager."""
        self.assertEqual(self.select("i:manager_free %coe* o:* %i"), {"grant_lane", "grant_bitmap", "grant_stamp"})


class FlipFlopsTest(unittest.TestCase):
    def test_describe_says_what_is_synthesized(self):
        chip = describe("deploy/examples/chip.yaml")
        slices = sum(place["count"] for place in chip["slices"] if place["first"] != "device")
        output = synthesis.run("hpc_read_path", device_parameters(slices, chip["events"]), "prep -flatten -nordff",
                               "memory_map", "simplemap t:$dff t:$dffe t:$sdff t:$sdffe t:$sdffce", "opt -fast",
                               "stat -json")
        self.assertEqual(synthesis.flip_flops(synthesis.cells(output)), chip["read_path"]["total"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
