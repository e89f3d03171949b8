"""The project's C++ and protocol-buffer rules: Bazel's own with the house's warnings."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//tests/analysis:analysis.bzl", "analysis_test", "cut_into_units")

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wnon-virtual-dtor",
    "-Wimplicit-fallthrough",
    "-Wthread-safety",
    # Designated initialisers leave out what has its default.
    "-Wno-missing-field-initializers",
]

def sideband_cc_binary(name, srcs = [], copts = [], deps = [], **kwargs):
    cc_binary(name = name, srcs = srcs, copts = _COPTS + copts, deps = deps, **kwargs)
    analysis_test(name, srcs, deps, kwargs.get("testonly", False), together = False)

# The text of the sources, not includes of them: what a library includes is an input of all that depend on it, so that an
# edit of one source would compile all of these again in every other clone.
def _source_unit_impl(ctx):
    ctx.actions.run_shell(
        inputs = ctx.files.srcs,
        outputs = [ctx.outputs.out],
        arguments = [ctx.outputs.out.path] + [source.path for source in ctx.files.srcs],
        command = """out=$1; shift; for source; do echo "#line 1 \\"$source\\""; cat "$source"; done >"$out" """,
        mnemonic = "SourceUnit",
    )

_source_unit = rule(
    implementation = _source_unit_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cc"], mandatory = True),
        "out": attr.output(mandatory = True),
    },
)

def _in_units(name, srcs):
    """What to compile: NAME_unit_1.cc and so on, or with --define=units=off the sources.

    A generated source turns units off."""
    if len(srcs) < 2 or [src for src in srcs if ":" in src]:
        return srcs
    units = []
    for sources in cut_into_units(srcs):
        units.append("%s_unit_%d.cc" % (name, len(units) + 1))
        _source_unit(
            name = units[-1][:-len(".cc")],
            srcs = sources,
            out = units[-1],
            visibility = ["//visibility:private"],
        )
    return select({"//third_party:units_off": srcs, "//conditions:default": units})

def sideband_cc_library(name, srcs = [], copts = [], **kwargs):
    cc_library(name = name, srcs = _in_units(name, srcs), copts = _COPTS + copts, **kwargs)
    analysis_test(name, srcs, [":" + name], kwargs.get("testonly", False), together = True)

def _library_of_pairs(name, pairs, srcs, hdrs, **kwargs):
    sideband_cc_library(
        name = name,
        srcs = [pair + ".cc" for pair in pairs] + srcs,
        hdrs = [pair + ".h" for pair in pairs] + hdrs,
        **kwargs
    )

def sideband_cc_test(name, srcs, deps = [], tags = [], threaded = [], **kwargs):
    """A GoogleTest program of several files, in a random order whose seed is in the log.

    Args:
      name: the program's.
      srcs: its files.
      deps: as for any rule.
      tags: as for any rule.
      threaded: the test suites that run with the thread sanitizer; all of them if it is empty.
      **kwargs: further attributes of cc_test.
    """
    kwargs.setdefault("size", "medium")
    cc_test(
        name = name,
        srcs = _in_units(name, srcs),
        copts = _COPTS + kwargs.pop("copts", []),
        args = ["--gtest_shuffle"] + select({
            "//third_party:tsan": ["--gtest_filter=" + ":".join(["%s.*:*/%s.*" % (suite, suite) for suite in threaded])],
            "//conditions:default": [],
        } if threaded else {"//conditions:default": []}),
        tags = tags,
        deps = deps + ["//third_party/gtest:main"],
        **kwargs
    )

def sideband_folder(
        name,
        pairs = [],
        srcs = [],
        hdrs = [],
        deps = [],
        testing_pairs = [],
        testing_srcs = [],
        testing_hdrs = [],
        testing_deps = [],
        tests = [],
        test_deps = [],
        test_data = [],
        isolated_tests = {},
        tags = [],
        threaded = [],
        shards = None,
        **kwargs):
    """A folder: the library NAME, the library `testing` and the test program NAME_test, as far as there are sources.

    Args:
      name: the folder's.
      pairs: x stands for x.h and x.cc.
      srcs: sources without a header of their own.
      hdrs: headers without a source.
      deps: what any of it needs.
      testing_pairs: as above, of what tests use: fakes and fixtures.
      testing_srcs: as above.
      testing_hdrs: as above.
      testing_deps: what these need besides `deps`.
      tests: sources of NAME_test.
      test_deps: what these need besides `deps` and `testing_deps`.
      test_data: files that tests read.
      isolated_tests: {name: attributes} of further test programs, each of NAME.cc unless it says otherwise.
      tags: `asan` for parsers of external bytes, `tsan` for threaded code: of all test programs.
      threaded: the suites of NAME_test for the thread sanitizer, where others use libraries that are not instrumented.
      shards: how many processes share the tests, where they take long.
      **kwargs: further attributes of the library.
    """
    own = []
    if pairs or srcs or hdrs:
        _library_of_pairs(name, pairs, srcs, hdrs, deps = deps, **kwargs)
        own.append(":" + name)
    if testing_pairs or testing_srcs or testing_hdrs:
        testing_deps = depset(own + deps + testing_deps).to_list()
        _library_of_pairs("testing", testing_pairs, testing_srcs, testing_hdrs, testonly = True, deps = testing_deps)
        own.append(":testing")
    test_deps = depset(own + deps + testing_deps + test_deps).to_list()
    if tests:
        sideband_cc_test(
            name = name + "_test",
            srcs = tests,
            deps = test_deps,
            data = test_data,
            tags = tags,
            threaded = threaded,
            shard_count = shards,
        )
    for test, attributes in isolated_tests.items():
        defaults = {"srcs": [test + ".cc"], "deps": test_deps, "data": test_data, "tags": tags}
        sideband_cc_test(name = test, **dict(defaults, **attributes))

def sideband_proto_library(name, srcs, root, grpc = False, deps = [], visibility = None):
    """Messages, and with `grpc` the service stubs, generated from `srcs`.

    Args:
      name: the cc_library.
      srcs: .proto files of this package, given by their path below `root`.
      root: the import root, a path below the workspace; headers are included by their path below it.
      grpc: whether to generate service stubs too.
      deps: other sideband_proto_library targets.
      visibility: as for any rule.
    """
    stems = [src[:-len(".proto")] for src in srcs]
    kinds = [".pb"] + ([".grpc.pb"] if grpc else [])
    sources = [stem + kind + ".cc" for stem in stems for kind in kinds]
    headers = [stem + kind + ".h" for stem in stems for kind in kinds]
    grpc_flags = "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=$(RULEDIR) " if grpc else ""
    native.genrule(
        name = name + "_generated",
        srcs = srcs,
        outs = sources + headers,
        cmd = "protoc -I %s --cpp_out=$(RULEDIR) %s$(SRCS)" % (root, grpc_flags),
        message = "Generating C++ for",
    )
    # One unit of the stubs; messages of different files have static data of the same names.
    stubs = [stem + ".grpc.pb.cc" for stem in stems] if grpc else []
    if stubs:
        _source_unit(name = name + "_grpc_unit", srcs = stubs, out = name + "_grpc_unit.cc")
    cc_library(
        name = name,
        srcs = [stem + ".pb.cc" for stem in stems] + ([name + "_grpc_unit.cc"] if grpc else []),
        hdrs = headers,
        # Warnings in generated code are for the authors of protoc.
        copts = ["-w"],
        includes = ["."],
        deps = deps + ["//third_party:grpc" if grpc else "//third_party:protobuf"],
        visibility = visibility,
    )
