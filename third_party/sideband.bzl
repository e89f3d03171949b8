"""The project's C++ and protocol-buffer rules: Bazel's own with the house's warnings."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wnon-virtual-dtor",
    "-Wimplicit-fallthrough",
    # Designated initialisers leave out what has its default.
    "-Wno-missing-field-initializers",
]

def sideband_cc_library(name, copts = [], **kwargs):
    cc_library(name = name, copts = _COPTS + copts, **kwargs)

def sideband_cc_binary(name, copts = [], **kwargs):
    cc_binary(name = name, copts = _COPTS + copts, **kwargs)

def sideband_cc_test(name, copts = [], deps = [], **kwargs):
    """A GoogleTest test; small unless it says otherwise."""
    kwargs.setdefault("size", "small")
    cc_test(
        name = name,
        copts = _COPTS + copts,
        deps = deps + ["//third_party:gtest_main"],
        **kwargs
    )

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
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        includes = ["."],
        deps = deps + ["//third_party:grpc" if grpc else "//third_party:protobuf"],
        visibility = visibility,
    )
