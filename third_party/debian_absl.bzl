"""Abseil's libraries by what is installed: Debian 13 has more of them than Debian 12."""

def _debian_absl_impl(repository_ctx):
    found = repository_ctx.execute(["sh", "-c", "ls /usr/lib/*/libabsl_*.so"])
    if found.return_code != 0:
        fail("no libabsl_*.so below /usr/lib: is libabsl-dev installed? (./dev setup)")
    names = sorted([path.split("/lib")[-1][:-len(".so")] for path in found.stdout.split("\n") if path])
    repository_ctx.file("BUILD", "")
    repository_ctx.file("libraries.bzl", "ABSL_LIBRARIES = %r\n" % names)

# @debian_absl//:libraries.bzl has ABSL_LIBRARIES, such as "absl_strings". It is made anew whenever Bazel starts.
debian_absl = repository_rule(
    implementation = _debian_absl_impl,
    local = True,
)
