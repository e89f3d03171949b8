# SPDX-License-Identifier: Apache-2.0
"""Runs `sideband-mcu replay --rotation`, and asks truth.py for the same.

    waveform = chip_run.Waveform("map.json", "trace.vcd.gz", "schedule.csv")
    shown = waveform.replay(mcu, {"counters": 68, "slots": 511}, seed=3)
    expected = waveform.truth(shown, {"counters": 68, "slots": 511}, seed=3)
"""

import csv
import json
import os
import subprocess
import tempfile

import signals as waves
import truth


def reference(name):
    """A reference waveform."""
    path = os.path.join(os.environ["SIDEBAND_SHARED_DATA"], name)
    return Waveform(path + ".signals.json", path + ".vcd.gz", path + ".schedule.csv")


def rotation_file(settings):
    """`settings` with one length of slots, in cycles. YAML has JSON's lists and objects."""
    keys = dict(settings)
    slot = "%dns" % keys.pop("slots")
    return json.dumps({"slots": {"stable": slot, "fluctuating": slot}, "adapt": False, **keys})


class Waveform:
    def __init__(self, signal_map, trace, schedule):
        if not os.path.exists(signal_map):  # the short trace has the map of the long one
            signal_map = signal_map.replace("-small", "")
        self.paths = {"signals": signal_map, "trace": trace, "schedule": schedule}
        self._signals = self._schedule = None

    def read(self):
        if self._signals is None:
            self._signals = waves.read_signals(self.paths["signals"], self.paths["trace"])
            with open(self.paths["schedule"], encoding="utf-8", newline="") as file:
                self._schedule = waves.read_schedule(csv.DictReader(file), self._signals.cycles)
        return self._signals, self._schedule

    def remainders(self):
        """{event: remainders that its prescaled counters drop at most, one for each residency of each context}."""
        signals, schedule = self.read()
        residencies = sum(len(of_owner) + 1 for of_owner in schedule.values())
        return {event: residencies * sum(counter.is_prescaled for counter in counters)
                for event, counters in signals.counters.items()}

    def replay(self, mcu, settings, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(rotation_file(settings))
            file.flush()
            command = [mcu, "replay", "--rotation", file.name, "--seed", str(seed)]
            for name, path in self.paths.items():
                command += ["--" + name, path]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return json.loads(done.stdout)

    def truth(self, shown, settings, seed):
        """{(vm, context): row} for the sets that the replay has planned."""
        relations = [{key: value for key, value in relation.items() if key != "of"}
                     for relation in settings.get("relations", [])]
        plan = {"sets": shown["rotation"]["sets"], "fixed": shown["rotation"]["fixed"], "relations": relations,
                "slot_cycles": settings["slots"], "dead_cycles": settings.get("dead_cycles", 0), "seed": seed}
        result = truth.evaluate(*self.read(), plan)
        rows = result["contexts"] + result["vms"] + [result["device"]]
        return {(row["vm"], row["context"]): row for row in rows}
