"""Packages of the npm registry, as the lock file beside a package.json has them."""

# What the repository has where the packages cannot be had: no files, and the reason.
_ABSENT = """
package(default_visibility = ["//visibility:public"])

filegroup(name = "node_modules")

filegroup(name = "node", srcs = glob(["bin/node"]))

exports_files(["reason"])

# Only packages ask for these.
[genrule(
    name = file.replace("/", "_"),
    srcs = ["reason"],
    outs = [file],
    cmd = "echo \\"the packages need the whole status page: $$(cat $<)\\" >&2; exit 1",
) for file in ["node_modules/%s/%s" % (name, file) for name in ["preact", "uplot"] for file in ["LICENSE", "package.json"]]]
"""

_PRESENT = """
package(default_visibility = ["//visibility:public"])

filegroup(
    name = "node_modules",
    srcs = glob(["node_modules/**"], exclude = ["node_modules/**/* *"]),
)

filegroup(name = "node", srcs = ["bin/node"])

exports_files(glob(["node_modules/*/LICENSE", "node_modules/*/package.json"]))
"""

# A build waits no longer for a registry or a proxy that does not answer. The page's packages are 13 MB when unpacked.
_INSTALL_SECONDS_MAX = 120

def _install(repository_ctx):
    """Returns why there are no packages, in one line; None if there are."""
    npm = repository_ctx.which("npm")
    node = repository_ctx.which("node")
    if node:
        repository_ctx.symlink(node.realpath, "bin/node")
    if not npm or not node:
        return "%s is not installed, which Debian's package npm provides" % ("node" if npm else "npm")
    for label in [repository_ctx.attr.package, repository_ctx.attr.lock]:
        repository_ctx.symlink(label, label.name)

    # No script of a package runs. What the registry sends must have the hashes of the lock file. While npm waits for an
    # answer it survives SIGTERM, with which Bazel's own timeout would end it.
    done = repository_ctx.execute(
        ["timeout", "--signal=KILL", str(_INSTALL_SECONDS_MAX)] +
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"],
    )
    if done.return_code == 0:
        return None
    if done.return_code == 128 + 9:
        return "npm ci has not ended within %d s: npm's registry or proxy may not answer" % _INSTALL_SECONDS_MAX
    reason = [line for line in done.stderr.split("\n") if line]
    return "npm ci fails: " + (reason[0] if reason else "exit status %d" % done.return_code)

def _npm_packages_impl(repository_ctx):
    reason = _install(repository_ctx)
    repository_ctx.file("available.bzl", "AVAILABLE = %r\n" % (not reason))
    if reason:
        repository_ctx.file("reason", reason + "\n")
    repository_ctx.file("BUILD", _ABSENT if reason else _PRESENT)

# @NAME//:node_modules are all files, @NAME//:node the program that runs them, which actions do not find in their PATH if it
# is not Debian's; @NAME//:available.bzl tells whether there are any files, @NAME//:reason why there are none.
# They are installed again when the lock file changes, and when SIDEBAND_NPM does, which is any text.
npm_packages = repository_rule(
    implementation = _npm_packages_impl,
    attrs = {
        "package": attr.label(mandatory = True),
        "lock": attr.label(mandatory = True),
    },
    environ = ["SIDEBAND_NPM"],
)
