# SPDX-License-Identifier: Apache-2.0
"""The packages whose code the programs use: Debian's shared libraries, its headers that are compiled in, and npm's
packages that are part of the status page."""

import dataclasses
import json
import os
import re
import subprocess

# One header of each header-only library in third_party/BUILD; {header: whether the licence wants its text to come with
# programs, too}. Boost's licence does not; templates of shared libraries are of the libraries' own packages.
HEADER_ONLY = {
    "/usr/include/boost/version.hpp": False,
    "/usr/include/CLI/CLI.hpp": True,
    "/usr/include/nlohmann/json.hpp": True,
}

# Names in Debian's copyright files, and SPDX's for the same licence.
_SPDX = {
    "Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause",
    "BSD-3-Clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0", "Expat": "MIT", "MIT": "MIT", "LGPL-2.1+": "LGPL-2.1-or-later",
    "BSD-3-Clause~Google": "BSD-3-Clause", "BSD-3-google": "BSD-3-Clause",
    "BSD-3-clause or GPL-2": "BSD-3-Clause OR GPL-2.0-only", "Zlib": "Zlib", "zlib": "Zlib",
    "MIT/X11": "X11-distribute-modifications-variant",  # ncurses' name for its licence
}


@dataclasses.dataclass(frozen=True, order=True)
class Library:
    """A binary package of Debian. use: "direct" (linked by a program), "indirect" (by a library), "headers"."""

    package: str
    version: str
    architecture: str
    use: str
    licence: str  # of most of it, as Debian's copyright file names it; empty if that is not machine-readable

    supplier = "Organization: Debian"

    def copyright_file(self):
        return "/usr/share/doc/%s/copyright" % self.package

    def origin(self):
        return self.copyright_file()

    def spdx_licence(self):
        return _SPDX.get(self.licence, "NOASSERTION")

    def locator(self):
        version = self.version.replace("+", "%2B").replace(":", "%3A")
        return "pkg:deb/debian/%s@%s?arch=%s" % (self.package.replace("+", "%2B"), version, self.architecture)


@dataclasses.dataclass(frozen=True, order=True)
class NpmPackage:
    """A package of the npm registry, all of which has one licence, named as SPDX does."""

    package: str
    version: str
    licence: str
    licence_file: str
    use = "embedded"
    supplier = "NOASSERTION"

    def copyright_file(self):
        return self.licence_file

    def origin(self):
        return "npm"

    def spdx_licence(self):
        return self.licence

    def locator(self):
        return "pkg:npm/%s@%s" % (self.package, self.version)


def npm_package(package_json):
    """The installed package with that package.json."""
    with open(package_json, encoding="utf-8") as file:
        described = json.load(file)
    licence_file = os.path.join(os.path.dirname(package_json), "LICENSE")
    return NpmPackage(described["name"], described["version"], described["license"], licence_file)


def _output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _owner(path):
    """The package of a file, which dpkg knows by its name before or after the merge of /lib into /usr/lib."""
    names = {path, os.path.realpath(path), re.sub("^/usr/", "/", os.path.realpath(path))}
    for name in sorted(names):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":", 1)[0]
    raise LookupError("no package has " + path)


def _needed(program):
    return set(re.findall(r"NEEDED\s+(\S+)", _output("objdump", "-p", program)))


def _loaded(program):
    """{name: path} of all shared libraries that are loaded with a program."""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", _output("ldd", program), re.MULTILINE))


def main_licence(copyright_text):
    """The licence of all files but those with one of their own, in a machine-readable copyright file; else nothing."""
    main = re.search(r"^Files:[ \t]*\*[ \t]*\n(?:.+\n)*?License:[ \t]*(.+)$", copyright_text, re.MULTILINE)
    return main.group(1).strip() if main else ""


def _library(package, use):
    version, architecture = _output("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", package).split("\n")[0].split()
    with open("/usr/share/doc/%s/copyright" % package, encoding="utf-8", errors="replace") as file:
        return Library(package, version, architecture, use, main_licence(file.read()))


def libraries_of(programs):
    """The libraries of all programs together, sorted by package."""
    uses = {_owner(header): "headers" for header in HEADER_ONLY}
    for program in programs:
        needed = _needed(program)
        for name, path in sorted(_loaded(program).items()):
            package = _owner(path)
            if name in needed or package not in uses:
                uses[package] = "direct" if name in needed else "indirect"
    return [_library(package, use) for package, use in sorted(uses.items())]


def with_notices(libraries):
    """The libraries that are compiled in and whose notices must come with programs."""
    headers = {_owner(header) for header, wants_notice in HEADER_ONLY.items() if wants_notice}
    return [library for library in libraries if library.package in headers or isinstance(library, NpmPackage)]
