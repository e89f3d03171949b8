"""Debian packages."""

_RELEASE = {
    "--version-header": "//proto/base:version.h",
    "--changelog": "//:CHANGELOG.md",
}
_STATUS = "--status bazel-out/stable-status.txt"

def _release_arguments():
    return " ".join(["%s $(location %s)" % item for item in _RELEASE.items()] + [_STATUS])

def debian_package(name, control, files, scripts = [], links = {}, wheels = []):
    """NAME.deb, and NAME.again.deb for a test, which compares them.

    Args:
      name: of the package.
      control: its control file, with ${} for what make_deb.py computes.
      files: {label: path}; a path that ends in / keeps the names of the label's files. $${multiarch} in it is the
        architecture's folder of libraries.
      scripts: maintainer scripts, NAME.postinst and so on, and other metadata, NAME.shlibs and NAME.triggers.
      links: {path: target} of symbolic links.
      wheels: whose Python packages are installed.
    """
    arguments = ["--control $(location %s)" % control]
    arguments += ["--script $(location %s)" % script for script in scripts]
    files = dict(files, **{name + ".lintian-overrides": "/usr/share/lintian/overrides/" + name})
    arguments += ["--file '%s' $(locations %s)" % (path, label) for label, path in files.items()]
    arguments += ["--link '%s' %s" % item for item in links.items()]
    arguments += ["--wheel $(location %s)" % wheel for wheel in wheels]
    for output in [name, name + ".again"]:
        native.genrule(
            name = output + "_deb",
            srcs = [control] + scripts + wheels + files.keys() + _RELEASE.values(),
            outs = [output + ".deb"],
            cmd = "$(location make_deb.py) --output $@ %s %s" % (_release_arguments(), " ".join(arguments)),
            message = "Packaging " + name,
            stamp = True,
            # The versions of the libraries' packages are no inputs of Bazel's.
            tags = ["no-cache"],
            testonly = output != name,
            tools = [
                "make_deb.py",
                "release.py",
                "tree.py",
            ],
        )

def bill_of_materials(name, programs, npm = []):
    """NAME.spdx.json and NAME.licences: what the programs link, and the packages in `npm` that are compiled in."""
    npm_files = [file % package for package in npm for file in ["%s/package.json", "%s/LICENSE"]]
    native.genrule(
        name = name + "_sbom",
        srcs = programs + npm_files + _RELEASE.values(),
        outs = [
            name + ".spdx.json",
            name + ".licences",
        ],
        cmd = "$(location make_sbom.py) --name %s %s --spdx $(location %s.spdx.json) --licences $(location %s.licences) %s" % (
            name,
            _release_arguments(),
            name,
            name,
            " ".join(["--npm $(location %s/package.json)" % package for package in npm] +
                     ["$(location %s)" % program for program in programs]),
        ),
        message = "Listing what is linked into " + name,
        stamp = True,
        tags = ["no-cache"],
        tools = [
            "linked.py",
            "make_sbom.py",
            "release.py",
        ],
    )
