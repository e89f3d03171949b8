# SPDX-License-Identifier: Apache-2.0
"""Sensors.WatchBoardEvents as a state machine: driven as Subscription is. Not thread-safe."""

import collections

from sideband._boards import DriverMessage, board_event_of
from sideband._errors import NotFound
from sideband._names import any_of
from sideband._proto.sideband.v1 import sensors_pb2
from sideband._reconnection import Backoff, Reconnection
from sideband._updates import Gap, GapReason

# Messages of drivers that are recognised when they are sent again.
MESSAGES_MAX = 4096


class BoardEvents:
    """First what the daemon holds, then, if `follow`, each event as it is read.

    After a loss the daemon sends again what it holds; what was handed out before is left out. is_complete: the stream
    is at its end.
    """

    service, method = "Sensors", "WatchBoardEvents"
    resume_token = b""

    def __init__(self, device, follow, timeout_s, backoff=Backoff()):
        self._device, self._follow, self._timeout_s = device, follow, timeout_s
        self._reconnection = Reconnection(backoff)
        self._messages = collections.OrderedDict()
        self._connections = 0
        self._has_begun = False
        self.is_complete = False

    def request(self):
        self._connections += 1
        self._has_begun = False
        return sensors_pb2.WatchBoardEventsRequest(device=self._device)

    def silence_max_s(self):
        """The stream has no heartbeats: a dead connection is found by gRPC's own pings."""
        return None if self._has_begun else self._timeout_s

    def received(self, response):
        is_synced = response.WhichOneof("event") == "sync_response"
        self._reconnection.received(is_synced)
        is_again = not self._has_begun and self._connections > 1
        self._has_begun = True
        if is_synced:
            self.is_complete = not self._follow
        event = board_event_of(response)
        gap = [Gap(self._device, None, None, GapReason.NO_RESUMPTION)] if is_again else []
        return gap + ([event] if event is not None and self._is_new(event) else [])

    def settle(self):
        """Nothing is to be remembered: the daemon holds the messages."""

    def ended(self, error, has_new_credentials=False):
        if isinstance(error, NotFound) and self._device:
            error.naming(any_of("device", [self._device]))
        return self._reconnection.ended(error, has_new_credentials)

    def _is_new(self, event):
        if not isinstance(event, DriverMessage):
            return True
        is_new = event not in self._messages
        self._messages[event] = None
        if len(self._messages) > MESSAGES_MAX:
            self._messages.popitem(last=False)
        return is_new
