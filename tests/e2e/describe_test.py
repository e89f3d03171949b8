# SPDX-License-Identifier: Apache-2.0
"""`sideband-mcu describe --chip`: numbers that follow from the file, and files that it and `serve` reject."""

import json
import math
import re

import programs

RECORD_BITS = 8 * 28 + 16 + 8 + 1 + 32 + 16 + 16 + 4
SMALL, LARGE = "deploy/examples/chip.yaml", "deploy/examples/chip-large.yaml"


def example(path):
    with open(programs.runfile(path), encoding="utf-8") as file:
        return file.read()


class DescribeTestCase(programs.ProgramTestCase):
    def describe(self, text, form="json"):
        self.write("chip.yaml", text)
        result = programs.run("sideband-mcu", "describe", "--chip", "chip.yaml", "--format", form, cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def json(self, text):
        return json.loads(self.describe(text))


# --- The totals, again from the tree's parts ------------------------------------------------------------------------


def units(slices):
    """(group of unit-level counters, total number of its instances) of the whole tree."""
    for place in slices:
        for ccu in place["ccus"]:
            for ulc in ccu["ulcs"]:
                yield ulc, place["count"] * ccu["count"] * ulc["count"]


def collection_units(slices):
    for place in slices:
        for ccu in place["ccus"]:
            yield ccu, place["count"] * ccu["count"]


def frame_bits(ulc):
    return 2 + ulc["counters"] * ulc["counter_bits"]


def channels(chip):
    return sum(group["count"] for group in chip["reduction_channels"])


def flip_flops(chip):
    tree = chip["slices"]
    parts = {
        "ulc_counters": sum(number * ulc["counters"] * ulc["counter_bits"] for ulc, number in units(tree)),
        "prescalers": sum(number * ulc["prescaled"] * 6 for ulc, number in units(tree)),
        "serialisers": sum(number * frame_bits(ulc) for ulc, number in units(tree)),
        "ccu_banks": sum(number * 2 * 28 * ccu["counters"] for ccu, number in collection_units(tree)),
        "buffer": chip["channel_buffer"]["records"] * RECORD_BITS,
        "reduction_channels": channels(chip) * chip["events"] * 64,
    }
    return {**parts, "total": sum(parts.values())}


def read_path(chip):
    """Of a client per slice and the firmware's, and managers of each slice's context and VM and of the device."""
    slices = sum(place["count"] for place in chip["slices"] if place["first"] != "device")
    clients, modules, events = slices + 1, 2 * slices + 1, chip["events"]
    managers = modules * math.ceil(events / 64)
    slot = 17 + min(64, events) + 2
    parts = {
        "clients": clients * (65 * 64 + 2 * 7 + 64 + 17 + 32 + 7 + 2 * 2),
        "interconnect": clients * (slot + 2 + 2 * slot + 2 + 2 * 2 * (64 + 6 + 3)) + managers * clients,
        "managers": modules * events * (64 + 1) + managers * (5 + 2 * clients),
    }
    total = sum(parts.values())
    return {**parts, "total": total, "flip_flops_ratio": total / chip["flip_flops"]["total"]}


def a_second(chip, period):
    return chip["clock_hz"] / period if period else 0


def bits_per_second(chip, switches_per_slice):
    """`switches_per_slice` is the number of context switches a second on each slice that has any."""
    records = [(math.ceil(ccu["counters"] / 8), number) for ccu, number in collection_units(chip["slices"])]
    on_slices = [place for place in chip["slices"] if place["first"] != "device"]
    switched = sum((math.ceil(ccu["counters"] / 8) + 1) * RECORD_BITS * number for ccu, number in
                   collection_units(on_slices))
    slices = sum(place["count"] for place in on_slices)
    block_bits = chip["events"] * 64
    commits = sum((2 if group["name"] == "slices" else 1) * group["count"] * a_second(chip, group["commit_period"])
                  for group in chip["reduction_channels"])
    parts = {
        "ccu_to_buffer": sum(count * number for count, number in records) * RECORD_BITS *
                         a_second(chip, chip["channel_buffer"]["trigger_period"]),
        "switches": (switched + slices * 2 * block_bits) * switches_per_slice,
        "rc_to_memory": block_bits * commits,
    }
    frames = sum(number * frame_bits(ulc) * a_second(chip, ulc["period"]) for ulc, number in units(chip["slices"]))
    return {"ulc_to_ccu": frames, **parts, "beyond_ccu": sum(parts.values())}


def snapshot_read(chip):
    """The longest read: LATCH, and a READ for each further 4080 bytes; a register write has 8 bytes, a read 9."""
    blocks, events = chip["memory"]["blocks"], chip["events"]
    header = 2 + 2 + 17 + 2 * (7 + 32) + (7 + 64) + 1 + 3
    bits = 1 + blocks * (64 + header + 7 * math.ceil(events / 16) + 64 * events)
    sections = 2 * 8 + 48  # the headers of blocks and statistics, and the statistics
    size = 28 + 20 + math.ceil(bits / 8) + sections + 4
    spans, reads = math.ceil(size / 4080), math.ceil(size / 255)
    writes, register_reads = 2 + 3 * (spans - 1), 3 + 2 * (spans - 1)
    bus_bytes = 8 * writes + 9 * register_reads + size + 5 * reads
    times = 9 * bus_bytes + 2 * writes + 3 * register_reads + 3 * reads
    return {"stream_bytes": size, "commands": spans, "block_reads": reads, "bus_bytes": bus_bytes,
            "bit_times": times, "seconds_by_bus_hz": {"100000": times / 1e5, "400000": times / 4e5}}


class TotalsTest(DescribeTestCase):
    def check(self, chip, switches_per_slice):
        self.assertEqual(chip["flip_flops"], flip_flops(chip))
        self.assertEqual(chip["read_path"], read_path(chip))
        for key, bits in bits_per_second(chip, switches_per_slice).items():
            self.assertAlmostEqual(chip["bits_per_second"][key], bits, delta=3, msg=key)
        self.assertEqual(chip["channel_buffer"]["record_bits"], RECORD_BITS)
        blocks = 1 + chip["vms"] + chip["contexts"]
        self.assertEqual(chip["memory"], {"blocks": blocks, "block_bytes": 28 + 8 * chip["events"],
                                          "page_table_bytes": 8 * blocks})
        for ulc, _ in units(chip["slices"]):
            self.assertEqual(ulc["serial_cycles"], math.ceil(frame_bits(ulc) / ulc["lanes"]), ulc["first"])
        read = chip["snapshot_read"]
        for key, value in snapshot_read(chip).items():
            self.assertEqual(read[key], value, key)
        self.check_flat(chip)

    def check_flat(self, chip):
        flat, moved = chip["flat_design"], chip["bits_per_second"]
        polled = a_second(chip, chip["channel_buffer"]["trigger_period"])
        self.assertEqual(flat["flip_flops"], 64 * flat["wires"])
        self.assertAlmostEqual(flat["polls"], flat["flip_flops"] * polled, delta=1)
        bits = flat["polls"] + flat["switches"]
        for key, dividend, divisor in (("flip_flops_ratio", flat["flip_flops"], chip["flip_flops"]["total"]),
                                       ("bits_beyond_ccu_ratio", bits, moved["beyond_ccu"]),
                                       ("bits_ratio", bits, moved["beyond_ccu"] + moved["ulc_to_ccu"])):
            self.assertAlmostEqual(flat[key], dividend / divisor, places=12, msg=key)

    def test_small_example(self):
        chip = self.json(example(SMALL))
        self.check(chip, 1 / 2.02e-3)
        # From the file: slices of 8 x 7 + 2 x 2 + 2 x 2 + 1 wires and that of the clock, and a device of 2 + 2.
        self.assertEqual(chip["flat_design"]["wires"], 2 * (56 + 4 + 4 + 1 + 1) + 4)
        self.assertEqual(chip["flip_flops"]["ulc_counters"], 9 * (2 * (56 + 4 + 1 + 1) + 4) + 8 * 2 * 4)
        self.assertAlmostEqual(chip["flat_design"]["switches"], 2 * 64 * 132 / 2.02e-3, delta=1)
        self.assertEqual((chip["events"], chip["vms"], chip["contexts"]), (17, 3, 5))
        self.assertEqual((chip["serial"], chip["clock_hz"]), ("SB-EMU-0001", 1_400_000_000))

    def test_large_example(self):
        chip = self.json(example(LARGE))
        self.check(chip, 1 / 2.02e-3)
        self.assertEqual(chip["flat_design"]["wires"], 8 * (8 * 48 * 45 + 1))
        self.assertEqual(chip["flip_flops"]["ulc_counters"], 8 * (8 * 48 * 45 + 1) * 9)
        self.assertEqual((chip["events"], chip["vms"], chip["contexts"]), (46, 8, 16))
        self.assertLess(chip["read_path"]["flip_flops_ratio"], 0.0629, "what the published design adds to its core")

    def test_every_key(self):
        """Prescaled, masked, on one slice, in lanes, and a channel of the microcontroller's own."""
        text = example(SMALL)
        text = text.replace("  - name: copy_engine\n    events: [copy_engine_active_cycles]\n", """\
  - name: copy_engine
    count: 3
    slices: [1]
    lanes: 4
    counter_bits: 5
    period: 31
    events: [copy_engine_active_cycles, {name: copy_bytes, bits: 12, count: prescaled}, {name: lost, bits: 3}]
    masked: [lost]
""").replace("out_of_band_commit_period: 0", "out_of_band_commit_period: 7000000")
        chip = self.json(text)
        self.assertEqual(channels(chip), 4)
        first, second = chip["slices"][:2]
        self.assertEqual((first["first"], first["count"], second["first"]), ("slice0", 1, "slice1"))
        copy = second["ccus"][0]["ulcs"][1]
        # 1, 1 + 7 of the twelve digits, and the three masked events.
        self.assertEqual((copy["count"], copy["counters"], copy["prescaled"], copy["masked"]), (3, 12, 1, 3))
        self.assertEqual(copy["serial_cycles"], math.ceil((2 + 12 * 5) / 4))
        self.assertEqual(chip["flip_flops"]["prescalers"], 3 * 6)
        self.assertEqual(chip["flat_design"]["wires"], 2 * (64 + 1) + 4 + 3 * (1 + 12))
        # The two slices differ now, so each is listed.
        self.check(chip, 1 / 2.02e-3)

    def test_contexts_that_stay(self):
        """A slice with a single context needs no gap, so there is no switch."""
        text = example(LARGE)
        text = re.sub(r"      - \{name: serve.*\n", "", text).replace("gap: 20us", "gap: 0us")
        chip = self.json(text)
        self.check(chip, 0)
        self.assertEqual(chip["bits_per_second"]["switches"], 0)

    def test_tree_has_the_same_numbers(self):
        for text in (example(SMALL), example(LARGE)):
            chip, tree = self.json(text), self.describe(text, "tree")
            numbers = re.findall(r"  ([\d,]+)\n", tree)
            for part in ("flip_flops", "bits_per_second"):
                for value in chip[part].values():
                    self.assertIn("{:,}".format(value), numbers)
            self.assertIn("{:,}".format(chip["read_path"]["total"]), numbers)
            for key in ("stream_bytes", "commands", "block_reads", "bus_bytes", "bit_times"):
                self.assertIn("{:,}".format(chip["snapshot_read"][key]), numbers)
            self.assertIn("{first}…{last} ×{count}".format(**chip["slices"][0]), tree)


# --- Rejected files -------------------------------------------------------------------------------------------------

# name: (text of chip.yaml, its replacement, lines from there to the line in the message, message)
BAD = {
    "clock": ("  clock_hz: 1400000000", "  clock_hz: 999", 0,
              "clock_hz is 999, must be a whole number from 1000 to 100000000000"),
    "slices_many": ("slices: 2", "slices: 65", 0, "slices is 65, must be a whole number from 1 to 64"),
    "slices_none": ("slices: 2", "slices: 0", 0, "slices is 0, must be a whole number from 1 to 64"),
    "slices_word": ("slices: 2", "slices: two", 0, "slices is two, must be a whole number from 1 to 64"),
    "counter_bits": ("  counter_bits: 9", "  counter_bits: 10", 0,
                     "counter_bits is 10, must be a whole number from 1 to 9"),
    "lanes": ("  lanes: 1 ", "  lanes: 513 ", 0, "lanes is 513, must be a whole number from 1 to 512"),
    "threshold": ("  threshold: 134217728 ", "  threshold: 268435456 ", 0,
                  "threshold is 268435456, must be a whole number from 0 to 268435455"),
    "trigger_period": ("  trigger_period: 1400000 ", "  trigger_period: 13999 ", 0,
                       "trigger_period is 13999, must be 0 or from 14000 to 1000000000000 cycles "
                       "(100000 a second at 1400000000 Hz)"),
    "commit_period": ("\n  commit_period: 5600000 ", "\n  commit_period: -1 ", 1,
                      "commit_period is -1, must be a whole number from 0 to 1000000000000"),
    "buffer_depth": ("  buffer_depth: 16 ", "  buffer_depth: 0 ", 0,
                     "buffer_depth is 0, must be a whole number from 1 to 65536"),
    "unit_count": ("    count: 8", "    count: 4097", 0, "count is 4097, must be a whole number from 1 to 4096"),
    "unit_period": ("    period: 255", "    period: 256", 0, "period is 256, must be a whole number from 1 to 255"),
    "event_bits": ("    events: [l2_hit_cycles, l2_miss_cycles]", "    events: [{name: l2_hit_cycles, bits: 33}]", 0,
                   "bits is 33, must be a whole number from 1 to 32"),
    "event_twice": ("    events: [l2_hit_cycles, l2_miss_cycles]", "    events: [l2_hit_cycles, l2_hit_cycles]", 0,
                    "event 'l2_hit_cycles' is listed twice in unit 'l2'"),
    "event_name": ("    events: [copy_engine_active_cycles]", "    events: [Copy]", 0,
                   "event 'Copy' has characters other than a-z, 0-9 and '_'"),
    "serialiser": ("    period: 255", "    period: 17", -4,
                   "unit 'dram': the serialiser cannot finish in a period: (2 + 2 counters x 8 bits) / 1 lanes = "
                   "18 cycles > period 17"),
    "context_slice": ("        slice: 0\n        seed: 1", "        slice: 2\n        seed: 1", -1,
                      "context 'train' is on slice 2, but there are 2 (from 0)"),
    "quantum": ("quantum: 2ms", "quantum: 99us", 0,
                "quantum is 99us, must be a duration from 100us to 24h, such as 250ms or 1s"),
    "gap": ("gap: 20us", "gap: 25h", 0, "gap is 25h, must be a duration from 0 to 24h, such as 250ms or 1s"),
    "lifetime": ("        seed: 1\n", "        seed: 1\n        lifetime: 999us\n", 1,
                 "lifetime is 999us, must be a duration from 1ms to 24h, such as 250ms or 1s"),
    "restart": ("        seed: 1\n", "        seed: 1\n        restart: false\n", 1,
                "'restart' needs a 'lifetime': a context without one never ends"),
    "confidential": ("    confidential: true", "    confidential: maybe", 0,
                     "confidential is maybe, must be true or false"),
    "idle_w": ("  idle_w: 65", "  idle_w: 10001", 0, "idle_w is 10001, must be a number from 0 to 10000"),
    "energy_event": ("    tensor_active_cycles: 9000", "    tensor_activ_cycles: 9000", 0,
                     "power: unknown event 'tensor_activ_cycles' (did you mean 'tensor_active_cycles'?)"),
    "ccu_name": ("  - {name: memory, threshold: 67108864}", "  - {name: memry, threshold: 1}", 0,
                 "no unit is on collection unit 'memry' (did you mean 'memory'?)"),
    "ccu_size": ("    count: 2\n    ccu: memory           #", "    count: 47\n    ccu: memory           #", 3,
                 "collection unit 'memory' has more than 48 unit-level counters with those of unit 'dram'"),
    "key": ("quantum: 2ms", "quantums: 2ms", 0, "unknown key 'quantums' (did you mean 'quantum'?)"),
}


class RefusedTest(DescribeTestCase):
    def refused(self, text, expected):
        """Both describe and serve reject the file; `expected` is the text after "chip.yaml:"."""
        self.write("chip.yaml", text)
        for command in (("describe",), ("serve", "--bus", "unix:gpu0.sock")):
            result = programs.run("sideband-mcu", *command, "--chip", "chip.yaml", cwd=self.folder)
            self.assert_refused(result, 2, "sideband-mcu: chip.yaml:" + expected + "\n")

    def check_bad(self, name):
        old, new, offset, message = BAD[name]
        text = example(SMALL)
        self.assertEqual(text.count(old), 1, old)
        line = text[:text.index(old)].count("\n") + 1 + offset
        self.refused(text.replace(old, new), "%d: %s" % (line, message))

    def test_counters_of_a_unit(self):
        """46 counters of a number's digits are one too many."""
        text = example(SMALL).replace("[copy_engine_active_cycles]",
                                      "[{name: a, bits: 32}, {name: b, bits: 14}]")
        line = text[:text.index("  - name: copy_engine")].count("\n") + 1
        self.refused(text, "%d: unit 'copy_engine': number of counters is 46, must be from 1 to 45; "
                     "with 'rotation' its events take turns, with 'selections' each VM has some of them" % line)

    def test_serialiser_of_the_largest_unit(self):
        """45 counters of 9 bits fit into 511 cycles, but not into 406."""
        text = example(LARGE).replace("  period: 511", "  period: 406")
        line = text[:text.index("  - name: cluster0_sm")].count("\n") + 1
        self.refused(text, "%d: unit 'cluster0_sm': the serialiser cannot finish in a period: (2 + 45 counters x 9 bits)"
                           " / 1 lanes = 407 cycles > period 406" % line)


def _add_case(name):
    setattr(RefusedTest, "test_" + name, lambda self: self.check_bad(name))


for _name in BAD:
    _add_case(_name)


class UsageTest(programs.ProgramTestCase):
    def refused(self, status, start, *arguments):
        self.assert_refused(programs.run("sideband-mcu", "describe", *arguments, cwd=self.folder), status,
                            "sideband-mcu: " + start)

    def test_missing_file(self):
        self.refused(2, "absent.yaml: No such file", "--chip", "absent.yaml")

    def test_directory(self):
        self.refused(2, "/: is a directory", "--chip", "/")

    def test_empty_file(self):
        self.write("chip.yaml", "")
        self.refused(2, "chip.yaml", "--chip", "chip.yaml")

    def test_not_yaml(self):
        self.write("chip.yaml", "device: {\n")
        self.refused(2, "chip.yaml:", "--chip", "chip.yaml")

    def test_unknown_format(self):
        self.refused(2, "--format", "--chip", "chip.yaml", "--format", "xml")

    def test_no_chip(self):
        self.refused(2, "--chip")

    def test_output_cannot_be_written(self):
        self.write("chip.yaml", example(SMALL))
        command = '"$0" describe --chip chip.yaml > /dev/full'
        result = programs.run("/bin/sh", "-c", command, programs.program_path("sideband-mcu"), cwd=self.folder)
        self.assert_refused(result, 1, "sideband-mcu: cannot write to standard output")
