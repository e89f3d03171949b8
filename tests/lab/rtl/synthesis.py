#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Synthesizes the RTL with yosys, and prints what the register read path costs. It takes some minutes.

  bazel build //proto/registers:hpc_registers.svh
  tests/lab/rtl/synthesis.py

Each figure has two lines, without and with the read path, in the form of `./dev bench`. Levels are the lookup tables on
the longest combinational path.
"""

import collections
import glob
import json
import os
import re
import subprocess

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.normpath(os.path.join(_HERE, "..", "..", ".."))
# Of a test, or of the tree.
_BUILT = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"]) if "TEST_SRCDIR" in os.environ else (
    os.path.join(_ROOT, "bazel-bin"))
_YOSYS = "/usr/bin/yosys"

# Any technology with 6-input lookup tables; memories are flip-flops.
GENERIC = "synth -flatten -lut 6 -nordff"
# That of the FPGA that the published design is measured on; caches and registers of the core are lookup tables.
XC7 = "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf"
# Memories that are flip-flops make a soc slow to synthesize, so its caches are small.
SMALL_CACHES = {"L1_LINES": 4, "L2_LINES": 4}

Figures = collections.namedtuple("Figures", "luts memory_luts flip_flops levels")


def sources():
    """What can be synthesized, the package first."""
    files = set(glob.glob(os.path.join(_HERE, "*.sv"))) - {os.path.join(_HERE, name) for name in (
        "cosimulation_top.sv", "memory.sv", "soc_top.sv")}
    return sorted(files, key=lambda path: (os.path.basename(path) != "hpc.sv", path))


def run(top, parameters, *commands):
    """What yosys prints of the last command."""
    script = ["read_verilog -sv -I%s/proto/registers %s" % (_BUILT, " ".join(sources())),
              "hierarchy -check -top %s %s" % (top, " ".join("-chparam %s %s" % pair for pair in parameters.items())),
              *commands[:-1], "log ---", commands[-1]]
    try:
        result = subprocess.run([_YOSYS, "-p", "; ".join(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, check=False)
    except FileNotFoundError:
        raise SystemExit("FAILED: yosys is not installed (./dev setup test)") from None
    if result.returncode != 0:
        raise RuntimeError(result.stdout[-2000:])
    return result.stdout.split("\n---\n")[-1]


def cells(output):
    """The number of cells of each type, from the output of `stat -json`."""
    statistics, _ = json.JSONDecoder().raw_decode(output[output.index("{"):])
    return statistics["design"]["num_cells_by_type"]


def count(kinds, pattern):
    return sum(number for kind, number in kinds.items() if re.fullmatch(pattern, kind))


def flip_flops(kinds):
    return count(kinds, r"\$_\w*DFF\w*_|FD[CPRS]E")


def synthesize(top, parameters, flow=GENERIC):
    """Figures of a design."""
    output = run(top, parameters, flow, "stat -json; ltp -noff")
    kinds = cells(output)
    levels = re.search(r"Longest topological path in \S+ \(length=(\d+)\)", output).group(1)
    # A RAM cell of xc7 is four lookup tables.
    return Figures(count(kinds, r"\$lut|LUT\d"), 4 * count(kinds, r"RAM\d+M"), flip_flops(kinds), int(levels))


def without_and_with(top, parameters, flow=GENERIC):
    return [synthesize(top, {"READ_PATH": read_path, **parameters}, flow) for read_path in (0, 1)]


def report(name, unit, pair):
    """In the form of ./dev bench."""
    for which, value in zip(("without the read path", "with it"), pair):
        more = "" if value == pair[0] else "%+.2f %%" % (100 * (value - pair[0]) / pair[0])
        print(("%-68s %10d %-11s %s" % (name + ", " + which, value, unit, more)).rstrip(), flush=True)


def main():
    core, soc = without_and_with("core", {}), without_and_with("soc", SMALL_CACHES)
    report("rtl: core alone", "LUTs", [figures.luts for figures in core])
    report("rtl: core alone", "flip-flops", [figures.flip_flops for figures in core])
    report("rtl: core alone, longest path", "levels", [figures.levels for figures in core])
    report("rtl: two cores with caches, longest path", "levels", [figures.levels for figures in soc])
    fpga = without_and_with("soc", {}, XC7)
    report("rtl: two cores with caches, xc7", "LUTs", [figures.luts + figures.memory_luts for figures in fpga])
    report("rtl: two cores with caches, xc7", "flip-flops", [figures.flip_flops for figures in fpga])


if __name__ == "__main__":
    main()
