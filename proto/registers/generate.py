#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes what guests, hardware, model and readers know of a register table, from its data.

  generate.py hpc_registers.json hpc_registers.h     constants of the model, C++
  generate.py hpc_registers.json sideband_hpc.h      macros for a guest's program, C
  generate.py hpc_registers.json hpc_registers.svh   parameters of the RTL, SystemVerilog
  generate.py hpc_registers.json registers.md        tables for a page of the documentation

The last argument is the file to write; its name tells what it holds.
"""

import json
import os
import sys

_LICENSE = "SPDX-License-Identifier: Apache-2.0"
_ORIGIN = "Made by proto/registers/generate.py from %s."


def fields_of(table):
    """(register, field, lowest bit, width) of every field."""
    for register in table["registers"]:
        for field in register.get("fields", []):
            yield register, field, field["lsb"], field.get("width", 1)


def camel(*words):
    return "k" + "".join(part.capitalize() for word in words for part in word.split("_"))


def upper(*words):
    return "_".join(word.upper() for word in words)


def numbers(table):
    """(words of the name, value, meaning) of every number that has one."""
    yield ("page", "bytes"), table["page_bytes"], "size of a register page"
    for register in table["registers"]:
        if "csr" in register:
            yield (register["name"], "csr"), register["csr"], "CSR of " + register["name"]
        yield (register["name"], "offset"), register["offset"], "offset of %s in a page" % register["name"]
    for module in table["modules"]:
        yield ("module", module["name"]), module["first"], module["meaning"]
    yield ("modules", "per", "scope"), table["modules"][0]["count"], "modules of contexts, and of VMs"
    for constant in table["constants"]:
        yield (constant["name"],), constant["value"], constant["meaning"]


def cpp_header(table, origin):
    lines = ["// %s" % _LICENSE, "//", "// %s. %s" % (table["title"], origin),
             "#ifndef SIDEBAND_PROTO_REGISTERS_HPC_REGISTERS_H_", "#define SIDEBAND_PROTO_REGISTERS_HPC_REGISTERS_H_", "",
             "#include <cstdint>", "", "namespace sideband::hpc {", ""]
    lines += ["inline constexpr uint32_t %s = %s;  // %s" % (camel(*words), value, meaning)
              for words, value, meaning in numbers(table)]
    for register, field, lsb, width in fields_of(table):
        name = camel(register["name"], field["name"])
        lines.append("inline constexpr uint64_t %s = uint64_t{0x%x} << %d;" % (name, (1 << width) - 1, lsb))
        if width > 1:
            lines.append("inline constexpr uint32_t %sLsb = %d;" % (name, lsb))
    return lines + ["", "}  // namespace sideband::hpc", "", "#endif  // SIDEBAND_PROTO_REGISTERS_HPC_REGISTERS_H_"]


def c_header(table, origin):
    def define(name, value, meaning):
        return ["/* %s */" % (meaning[0].upper() + meaning[1:]), "#define SIDEBAND_HPC_%s %s" % (name, value)]

    lines = ["/* %s */" % _LICENSE, "/* %s. %s */" % (table["title"], origin),
             "#ifndef SIDEBAND_HPC_H_", "#define SIDEBAND_HPC_H_", ""]
    for words, value, meaning in numbers(table):
        lines += define(upper(*words), value, meaning)
    for register, field, lsb, width in fields_of(table):
        name = upper(register["name"], field["name"])
        lines += define(name, "(0x%xull << %d)" % ((1 << width) - 1, lsb), "%s: %s" % (field["access"], field["meaning"]))
        if width > 1:
            lines.append("#define SIDEBAND_HPC_%s_LSB %d" % (name, lsb))
    return lines + ["", "#endif /* SIDEBAND_HPC_H_ */"]


def verilog_header(table, origin):
    # The RTL has the registers of cores.
    table = dict(table, registers=[register for register in table["registers"] if "csr" in register])
    lines = ["// %s" % _LICENSE, "// %s. %s" % (table["title"], origin), "`ifndef HPC_REGISTERS_SVH_",
             "`define HPC_REGISTERS_SVH_"]
    for words, value, _ in numbers(table):
        number = "12'h%x" % int(value, 16) if words[-1] in ("csr", "offset") else value
        lines.append("localparam %s = %s;" % (upper("hpc", *words), number))
    for register, field, lsb, width in fields_of(table):
        name = upper(register["name"], field["name"])
        lines.append("localparam %s_LSB = %d;" % (name, lsb))
        lines.append("localparam %s_WIDTH = %d;" % (name, width))
    return lines + ["`endif"]


def bits(lsb, width):
    return str(lsb) if width == 1 else "%d:%d" % (lsb + width - 1, lsb)


def sentence(text):
    return text[0].upper() + text[1:]


def page(table, origin):
    lines = ["<!-- %s -->" % origin, "| register | CSR | offset | access | |", "|---|---|---|---|---|"]
    for register in table["registers"]:
        lines.append("| `{name}` | {1} | {offset} | {access} | {0} |".format(
            register.get("meaning", sentence(register["title"]) + "; see below."), register.get("csr", "–"), **register))
    for register in table["registers"]:
        if "fields" not in register:
            continue
        lines += ["", "| `%s` bits | field | access | |" % register["name"], "|---|---|---|---|"]
        lines += ["| %s | %s | %s | %s |" % (bits(lsb, width), field["name"], field["access"], field["meaning"])
                  for of, field, lsb, width in fields_of(table) if of is register]
        lines.append("")
        lines.append("Other bits read 0, and writes ignore them.")
    lines += ["", "| module | counters of |", "|---|---|"]
    for module in table["modules"]:
        last = module["first"] + module["count"] - 1
        lines.append("| %s | %s |" % (bits(module["first"], 1) if module["count"] == 1 else
                                      "%d to %d" % (module["first"], last), module["meaning"]))
    lines += ["", "| constant | value | |", "|---|---|---|"]
    lines += ["| {name} | {value} | {meaning} |".format(**constant) for constant in table["constants"]]
    return lines


_WRITERS = {"hpc_registers.h": cpp_header, "sideband_hpc.h": c_header, "hpc_registers.svh": verilog_header,
            "registers.md": page}


def main(data, output):
    with open(data, encoding="utf-8") as file:
        table = json.load(file)
    writer = _WRITERS[os.path.basename(output)]
    lines = writer(table, _ORIGIN % os.path.basename(data))
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
