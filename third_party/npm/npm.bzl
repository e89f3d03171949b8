"""Packages of the npm registry, as the lock file beside a package.json has them."""

def _npm_packages_impl(repository_ctx):
    npm = repository_ctx.which("npm")
    if not npm:
        fail("no npm: ./dev setup installs it")
    for label in [repository_ctx.attr.package, repository_ctx.attr.lock]:
        repository_ctx.symlink(label, label.name)

    # No script of a package runs. What the registry sends must have the hashes of the lock file.
    done = repository_ctx.execute(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"],
        timeout = 300,
    )
    if done.return_code != 0:
        fail("npm ci: the packages of %s could not be installed:\n%s" % (repository_ctx.attr.package, done.stderr))
    repository_ctx.file("BUILD", """
package(default_visibility = ["//visibility:public"])

filegroup(
    name = "node_modules",
    srcs = glob(["node_modules/**"], exclude = ["node_modules/**/* *"]),
)

exports_files(glob(["node_modules/*/LICENSE", "node_modules/*/package.json"]))
""")

# @NAME//:node_modules are all files. They are installed again when the lock file changes.
npm_packages = repository_rule(
    implementation = _npm_packages_impl,
    attrs = {
        "package": attr.label(mandatory = True),
        "lock": attr.label(mandatory = True),
    },
)
