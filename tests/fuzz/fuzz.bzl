# SPDX-License-Identifier: Apache-2.0
"""Fuzz targets: one source each, run by libFuzzer, for --config=asan only."""

load("//third_party:sideband.bzl", "sideband_cc_binary", "sideband_cc_library")

def sideband_fuzz_targets(targets):
    """A fuzzer NAME for each target, of the library NAME_input.

    Args:
      targets: the code under test, by the name of the target and its source.
    """
    for name, deps in targets.items():
        sideband_cc_library(
            name = name + "_input",
            testonly = True,
            srcs = [name + ".cc"],
            alwayslink = True,
            deps = deps + [":fuzz_target"],
        )
        sideband_cc_binary(
            name = name,
            testonly = True,
            linkopts = ["-fsanitize=fuzzer"],
            tags = ["manual"],
            deps = [":fuzzer", name + "_input"],
        )
