#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Makes the status page one file, and C++ of it with the hashes that its content security policy permits.

    assemble.py --template page.html --script page.js --style page.css --notice LICENSE … --output status_page.inc

Several scripts become one: what they import of each other is named before.
"""

import argparse
import base64
import hashlib
import re
import sys

# Ends no page, and is no text of one.
_DELIMITER = "SIDEBAND_PAGE"
# A style of a library, which a page without libraries does without.
_IMPORT = re.compile("^@import .*\n", re.MULTILINE)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--template", "--style", "--output"):
        parser.add_argument(name, required=True)
    parser.add_argument("--script", action="append", required=True)
    parser.add_argument("--notice", action="append", default=[])
    return parser.parse_args()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def joined(paths):
    """The scripts as one; a single one is as it is. Modules that import each other become one scope."""
    if len(paths) == 1:
        return read(paths[0])
    lines = [line for path in paths for line in read(path).splitlines() if not line.startswith("import ")]
    return "\n".join(re.sub("^export ", "", line) for line in lines)


def inline(text, element):
    """A script or style as an element's content, which the element's end tag must not be part of."""
    if "</" + element in text.lower():
        raise SystemExit("assemble.py: the %s contains its own end tag" % element)
    return text


def notices(paths):
    text = "\n".join(read(path).strip() for path in paths)
    if "--" in text:
        raise SystemExit("assemble.py: a notice would end the comment")
    return text


def source_hash(content):
    """CSP's hash of an inline element (W3C, Content Security Policy Level 3, section 2.3.1)."""
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def policy(script, style):
    return "; ".join([
        "default-src 'none'", "script-src " + source_hash(script), "style-src " + source_hash(style),
        "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def literal(text):
    if ")" + _DELIMITER in text:
        raise SystemExit("assemble.py: the page contains the end of its literal")
    return 'R"%s(%s)%s"' % (_DELIMITER, text, _DELIMITER)


def main():
    arguments = parse_arguments()
    script = inline(joined(arguments.script), "script")
    style = inline(_IMPORT.sub("", read(arguments.style)), "style")
    page = (read(arguments.template).replace("{{style}}", style).replace("{{notices}}", notices(arguments.notice))
            .replace("{{script}}", script))
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("constexpr char kPage[] = %s;\nconstexpr char kPolicy[] = %s;\n" %
                   (literal(page), literal(policy(script, style))))


if __name__ == "__main__":
    sys.exit(main())
