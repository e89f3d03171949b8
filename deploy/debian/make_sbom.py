#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes the bill of materials of the programs (SPDX 2.3, JSON) and the list of third-party licences.

    make_sbom.py --spdx FILE --licences FILE --name PACKAGE … [--npm package.json]… PROGRAM…
"""

import argparse
import json
import os
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from linked import libraries_of, npm_package, with_notices  # noqa: E402
from release import Release  # noqa: E402

_USES = {"direct": "shared library", "indirect": "shared library of a library", "headers": "compiled in",
         "embedded": "part of the status page"}
_RELATIONSHIPS = {"direct": "DYNAMIC_LINK", "indirect": "DEPENDS_ON", "headers": "STATIC_LINK",
                  "embedded": "CONTAINS"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--spdx", "--licences", "--name", "--version-header", "--changelog", "--status"):
        parser.add_argument(name, required=True)
    parser.add_argument("--npm", action="append", default=[], help="the package.json of a package that is compiled in")
    parser.add_argument("programs", nargs="+")
    return parser.parse_args()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def spdx_id(package):
    # Letters, digits, '.' and '-' only.
    return "SPDXRef-Package-" + package.replace("+", "-plus").replace("_", "-")


def own_package(name, release):
    return {"SPDXID": spdx_id(name), "name": name, "versionInfo": release.debian, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
            "copyrightText": "The Sideband authors", "primaryPackagePurpose": "APPLICATION"}


def library_package(library):
    return {"SPDXID": spdx_id(library.package), "name": library.package, "versionInfo": library.version,
            "supplier": library.supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": library.spdx_licence(),
            "licenseComments": "Of most files, as its origin names it: %s." % (library.licence or "not named"),
            "copyrightText": "NOASSERTION", "primaryPackagePurpose": "LIBRARY",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": library.locator()}]}


def bill_of_materials(name, release, libraries):
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": "%s-%s" % (name, release.debian),
        "creationInfo": {"created": release.iso_date(), "creators": ["Organization: The Sideband authors",
                                                                     "Tool: make_sbom.py"]},
        "packages": [own_package(name, release)] + [library_package(library) for library in libraries],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": spdx_id(name)}] +
                         [{"spdxElementId": spdx_id(name), "relationshipType": _RELATIONSHIPS[library.use],
                           "relatedSpdxElement": spdx_id(library.package)} for library in libraries],
    }
    # Another document has another name; the same document has the same one.
    content = json.dumps(document, sort_keys=True)
    return {**document, "documentNamespace": "urn:uuid:%s" % uuid.uuid5(uuid.NAMESPACE_OID, content)}


def licence_list(name, libraries):
    lines = ["Third-party code of the package %s, by Debian or npm package, with the licence of most of its files;" % name,
             "the file named after it has all. Texts that must accompany code that is compiled in are at the end.", ""]
    for library in libraries:
        lines += ["%s %s (%s)" % (library.package, library.version, _USES[library.use]),
                  "    %s (%s)" % (library.licence or "Several", library.origin())]
    for library in with_notices(libraries):
        lines += ["", "=" * 100, library.package, "=" * 100, read(library.copyright_file()).rstrip()]
    return "\n".join(lines) + "\n"


def main():
    arguments = parse_arguments()
    release = Release(read(arguments.version_header), read(arguments.changelog), read(arguments.status))
    libraries = libraries_of(arguments.programs) + [npm_package(path) for path in sorted(arguments.npm)]
    with open(arguments.spdx, "w", encoding="utf-8") as file:
        json.dump(bill_of_materials(arguments.name, release, libraries), file, indent=1, sort_keys=True)
        file.write("\n")
    with open(arguments.licences, "w", encoding="utf-8") as file:
        file.write(licence_list(arguments.name, libraries))


if __name__ == "__main__":
    sys.exit(main())
