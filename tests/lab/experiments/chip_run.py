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


def lengths(settings):
    slots = settings["slots"]
    return slots if isinstance(slots, dict) else {"stable": slots, "fluctuating": slots}


def rotation_file(settings):
    """`settings` with slots, one length or two, and `interval` in cycles. YAML has JSON's lists and objects."""
    keys = {**settings, "slots": {kind: "%dns" % cycles for kind, cycles in lengths(settings).items()}}
    if "interval" in keys:
        keys["interval"] = "%dns" % keys["interval"]
    return json.dumps({"adapt": False, **keys})


def turns_of(settings):
    """The same as turns.py has it."""
    is_two_set = settings.get("profile") == "two-set"
    per_pass = settings.get("sets_per_pass", 2 if is_two_set else "all")
    return {"profile": settings.get("profile", "fast"), **lengths(settings),
            "interval": settings.get("interval", 500_000_000), "step": settings.get("step", 4),
            "threshold": round(1000 * settings.get("threshold", 0.05)), "adapt": settings.get("adapt", False),
            "sets_per_pass": 0 if per_pass == "all" else per_pass}


class Waveform:
    def __init__(self, signal_map, trace, schedule, exits=None):
        if not os.path.exists(signal_map):  # the short trace has the map of the long one
            signal_map = signal_map.replace("-small", "")
        self.paths = {"signals": signal_map, "trace": trace, "schedule": schedule}
        if exits:
            self.paths["exits"] = exits
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
                "turns": turns_of(settings), "dead_cycles": settings.get("dead_cycles", 0), "seed": seed,
                "instructions": settings.get("instructions"),
                "weights": {event: round(1000 * weight) for event, weight in settings.get("weights", {}).items()}}
        result = truth.evaluate(*self.read(), plan)
        rows = result["contexts"] + result["vms"] + [result["device"]]
        return {**{(row["vm"], row["context"]): row for row in rows}, "device_events": result["device_events"]}
