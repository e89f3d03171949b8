# SPDX-License-Identifier: Apache-2.0
"""Fuzz targets: one source, run by libFuzzer or replayed by a test, both for --config=asan only."""

load("//third_party:sideband.bzl", "sideband_cc_binary", "sideband_cc_library", "sideband_cc_test")

def sideband_fuzz_target(name, deps):
    """The fuzz target of NAME.cc.

    NAME is the fuzzer; NAME_corpus_test replays seeds and corpus/NAME.

    Args:
      name: of the target and its source.
      deps: the code under test.
    """
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
        deps = [
            ":seed_writer",
            name + "_input",
        ],
    )
    sideband_cc_test(
        name = name + "_corpus_test",
        srcs = [],
        data = native.glob(["corpus/%s/*" % name]),
        # The fuzzer's own configuration, where each byte counts.
        tags = ["asan", "sanitized"],
        env = {"SIDEBAND_CORPUS": "tests/fuzz/corpus/" + name},
        deps = [
            ":corpus_test",
            name + "_input",
        ],
    )
