# SPDX-License-Identifier: Apache-2.0
"""Which version is packaged, and the date that everything in the package has."""

import calendar
import re
import time


class Release:
    """The version in proto/base/version.h, with the revision from Bazel's workspace status if there is one.

    upstream: "0.2.0" of a release, or of a build that was not told its revision; "0.2.0+git20261123.024512.7034ce0"
        of any other revision, which is newer for apt than the release, and than each revision before it
    debian: `upstream` with the revision of the packaging
    date: seconds since 1970: of the commit; without one, of the newest release in the changelog
    """

    def __init__(self, version_header, changelog, status):
        self.upstream = re.search(r'kVersion\[\] = "([0-9.]+)"', version_header).group(1)
        values = dict(line.split(" ", 1) for line in status.splitlines() if " " in line)
        self.date = int(values.get("STABLE_COMMIT_TIME", 0)) or _newest_release(changelog)
        revision = values.get("STABLE_REVISION")
        if revision and values.get("STABLE_RELEASE") != "v" + self.upstream:
            when = time.strftime("%Y%m%d.%H%M%S", time.gmtime(self.date))
            self.upstream += "+git%s.%s" % (when, revision.replace("-", "."))
        self.debian = self.upstream + "-1"

    def iso_date(self):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.date))

    def changelog_entry(self, package, maintainer):
        """A changelog of the packaging; what users see is in CHANGELOG.md, which is installed beside it."""
        when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(self.date))
        return "%s (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n" % (
            package, self.debian, maintainer, when)


def _newest_release(changelog):
    day = re.search(r"^## \[[0-9.]+\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)
    return calendar.timegm(time.strptime(day.group(1), "%Y-%m-%d"))
