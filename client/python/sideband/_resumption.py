# SPDX-License-Identifier: Apache-2.0
"""Where a stream of Telemetry.Subscribe goes on after a loss, and what the daemon has said of the time between.

    resumption.begin()                       # a connection is opened, with resumption.token
    found = resumption.count(response)       # of each response
    found += resumption.gap(device, to_ns)   # before the first thing of a device
    resumption.settle()                      # the response has been dealt with

A daemon that knows tokens numbers its responses and begins with `resumed` or `gap`. An older one does neither: then the
gap is this client's own. Not thread-safe.
"""

import collections

from sideband._checks import DEVICES_MAX
from sideband._updates import Gap, GapReason, Inconsistent, InconsistentKind

# The daemon sends and takes none that are longer.
TOKEN_BYTES_MAX = 32 << 10


class Resumption:
    """token: of the newest response that has been dealt with; empty without one."""

    def __init__(self, token=b""):
        self.token = token
        self._next_token = b""
        self._newest = collections.OrderedDict()  # device, or "" of a stream of changes: host time of the newest thing
        self.begin()

    def __len__(self):
        """The number of devices that are remembered, by the larger of the two lists of them."""
        return max(len(self._newest), len(self._covered))

    def begin(self):
        """Nothing is known of the new connection yet."""
        self._asked = bool(self.token)
        self._sequence = None  # of the newest response; 0 from a daemon that does not count
        self._due = set(self._newest)
        self._covered = set()  # devices of which the daemon has said what was missed; "" is all of them

    @property
    def has_begun(self):
        """Whether the connection has had a response."""
        return self._sequence is not None

    @property
    def is_older(self):
        """Whether the daemon knows neither tokens nor heartbeats, as far as it has answered."""
        return self._sequence == 0

    def count(self, response):
        """Takes the number and the token of a response."""
        before, self._sequence = self._sequence, response.sequence
        found = []
        expected = before + 1 if before else 1
        # An older daemon numbers none of a stream's responses.
        if response.sequence != expected and (before or response.sequence):
            found.append(Inconsistent("", InconsistentKind.SEQUENCE, "response %d came in place of response %d" %
                                      (response.sequence, expected)))
        self._next_token = response.resume_token
        if len(response.resume_token) > TOKEN_BYTES_MAX:
            self._next_token = b""
            text = "a resume token of %d bytes" % len(response.resume_token)
            found.append(Inconsistent("", InconsistentKind.CONTENT, text))
        return found

    def settle(self):
        """The newest response has been dealt with: the stream goes on after it."""
        # What an older daemon sends has no token, and comes after what the last token tells of. A newer daemon that sends
        # none resumes after the last one: what has come since comes again.
        if self._next_token or self.is_older:
            self.token, self._next_token = self._next_token, b""

    def cover(self, device):
        """The daemon has said what was missed of a device. Returns whether it had been asked."""
        if len(self._covered) < DEVICES_MAX:
            self._covered.add(device)
        return self._asked

    def gap(self, device, to_ns):
        """The gap before something of a device, unless the daemon told of it, or there is none; remembers `to_ns`."""
        found = []
        if self._is_due(device):
            from_ns = self._newest.get(device)
            if self._asked and not self.is_older:
                found.append(Inconsistent(device, InconsistentKind.RESUMPTION,
                                          "the daemon said nothing of the resume token that it was sent"))
            found.append(Gap(device, from_ns, to_ns, GapReason.NO_RESUMPTION))
        self._due.discard(device)
        if self.is_older:
            self.cover(device)
        self._newest.pop(device, None)
        self._newest[device] = to_ns
        if len(self._newest) > DEVICES_MAX:
            self._newest.popitem(last=False)
        return found

    def _is_due(self, device):
        if self._covered & {device, ""}:
            return False
        # With a token from an earlier run, the devices of that are not known here.
        return device in self._due or (self._asked and self.is_older)
