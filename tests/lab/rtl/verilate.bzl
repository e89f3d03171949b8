# SPDX-License-Identifier: Apache-2.0
"""Designs in SystemVerilog as C++ libraries."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def verilated_library(name, top, srcs, includes = [], flags = ""):
    """A library with the class V<top> in V<top>.h, whose source is everything that Verilator makes, in one piece.

    Args:
      name: the library.
      top: the top module.
      srcs: its file and those of the modules in it, packages first.
      includes: files that these include.
      flags: more options of Verilator.
    """
    headers = ["V%s%s.h" % (top, part) for part in ["", "__Syms", "___024root"]]
    source = "V%s.cpp" % top
    native.genrule(
        name = name + "_verilated",
        testonly = True,
        srcs = srcs + includes,
        outs = headers + [source],
        cmd = " && ".join([
            "rm -rf $(RULEDIR)/{0}.obj",
            "verilator --cc -O3 -Wall {1} {2} --top-module {3} --Mdir $(RULEDIR)/{0}.obj {4}",
            "cat $(RULEDIR)/{0}.obj/*.cpp >$(RULEDIR)/{0}.all",
            "mv $(RULEDIR)/{0}.obj/*.h $(RULEDIR)",
            "mv $(RULEDIR)/{0}.all $(RULEDIR)/{5}",
        ]).format(
            name,
            flags,
            " ".join(["-I$$(dirname $(location %s))" % file for file in includes]),
            top,
            " ".join(["$(location %s)" % file for file in srcs]),
            source,
        ),
        message = "Verilating",
    )
    cc_library(
        name = name,
        testonly = True,
        srcs = [source] + headers[1:],
        hdrs = headers[:1],
        # Quiet: the sources are Verilator's.
        copts = [
            "-O1",
            "-g0",
            "-w",
        ],
        deps = ["@verilator//:runtime"],
    )
