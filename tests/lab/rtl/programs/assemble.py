#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Assembles programs for the core, with the numbers of the register table.

  assemble.py TABLE.json HPC.sv PROGRAM.S PROGRAM.hex

A program may name CSRs (`hpcc`; `hpcch` for its high half), fields (`hpcc_trigger`), their lowest bits
(`hpcc_module_lsb`) and the table's constants (`hpc_attempts_max`). The output has a word in each line.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

_TOOLS = "/usr/bin/riscv64-linux-gnu-"


def symbols(table, rtl):
    """(name, value) of what a program may name: registers that only a page has are not among them."""
    high = int(re.search(r"CSR_HIGH = 12'h(\w+)", rtl).group(1), 16)
    for register in (r for r in table["registers"] if "csr" in r):
        csr = int(register["csr"], 16)
        yield register["name"], csr
        yield register["name"] + "h", csr + high
        for field in register.get("fields", []):
            name = "%s_%s" % (register["name"], field["name"])
            yield name, ((1 << field.get("width", 1)) - 1) << field["lsb"]
            yield name + "_lsb", field["lsb"]
    for constant in table["constants"]:
        yield "hpc_" + constant["name"], constant["value"]


def run(tool, *arguments, **options):
    try:
        subprocess.run([_TOOLS + tool, *arguments], check=True, **options)
    except FileNotFoundError:
        raise SystemExit("FAILED: %s%s is not installed (./dev setup test)" % (_TOOLS, tool)) from None


def assemble(table, rtl, source):
    """The words of a program."""
    header = "".join(".equ %s, %d\n" % pair for pair in symbols(table, rtl))
    with tempfile.TemporaryDirectory() as folder:
        objects, linked, words = (os.path.join(folder, name) for name in ("o", "elf", "bin"))
        run("as", "-march=rv32i_zicsr", "-mabi=ilp32", "-mno-relax", "-o", objects, "-", input=header + source, text=True)
        run("ld", "-m", "elf32lriscv", "-Ttext=0", "-e", "0", "-o", linked, objects)
        run("objcopy", "-O", "binary", "-j", ".text", linked, words)
        with open(words, "rb") as file:
            return ["%08x" % word for word, in struct.iter_unpack("<I", file.read())]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(table, rtl, source, output):
    words = assemble(json.loads(read(table)), read(rtl), read(source))
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(words) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
