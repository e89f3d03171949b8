# SPDX-License-Identifier: Apache-2.0
"""Whether and when a stream that has ended is opened again: the table in docs/streams.md. Nothing is waited for here.

    reconnection.received(is_synced)        # of each response
    delay_s = reconnection.ended(error)     # raises the error if the stream is not to be opened again
"""

import dataclasses
import random
import time

from sideband import _errors

_LOSSES = (_errors.Unavailable, _errors.Cancelled, _errors.DeadlineExceeded)
# A daemon that has just started does not know its devices yet, and files are replaced one after the other.
_STARTING = (_errors.NotFound, _errors.ConfigError)
# As long as the heartbeat of a stream that asks for no other.
STEADY_S = 10.0


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Delays in seconds: `first_s`, then twice as long each time, up to `last_s`; each between the half and all of it.

    They begin anew after a connection that has brought the stream's whole present state, or has lasted a heartbeat's time.
    patience_s: for so long after a loss, errors of a daemon that is starting are not final.
    """

    first_s: float = 0.5
    last_s: float = 10.0
    patience_s: float = 30.0


class Reconnection:
    """The state of one stream. Not thread-safe."""

    def __init__(self, backoff=Backoff(), steady_s=STEADY_S, uniform=random.uniform, now=time.monotonic):
        """`steady_s`: so long after its first response, a connection is one that holds."""
        self._backoff, self._steady_s, self._uniform, self._now = backoff, steady_s, uniform, now
        self._was_open = False
        # Of the connection.
        self._opened_at = None  # when the first response came
        self._is_synced = False
        self._begin_anew()

    def received(self, is_synced=False):
        """A response has come: the stream is open. is_synced: it ends the present state, so that the stream is whole."""
        self._was_open = True
        if self._opened_at is None:
            self._opened_at = self._now()
        self._is_synced = self._is_synced or is_synced

    def ended(self, error, has_new_credentials=False):
        """Seconds to wait before the stream is opened again. `error` is None if the daemon ended it without one.

        Raises the error if the stream has never been open, or if connecting again does not help. has_new_credentials:
        the stream was opened with another token or certificate than the files have now.
        """
        # One response alone shows nothing: a daemon that falls over each time sends it, too.
        if self._is_synced or (self._opened_at is not None and self._now() - self._opened_at >= self._steady_s):
            self._begin_anew()
        self._opened_at, self._is_synced = None, False
        if not self._was_open or not self._may_pass(error, has_new_credentials):
            raise error or _errors.Unavailable("the daemon ended the stream before its first response")
        self._is_lost = True
        delay_s = self._uniform(self._delay_s / 2, self._delay_s)
        self._delay_s = min(2 * self._delay_s, self._backoff.last_s)
        delay_s = max(delay_s, getattr(error, "retry_after_s", None) or 0.0)
        self._waited_s = delay_s + (self._waited_s if isinstance(error, _STARTING) else 0.0)
        return delay_s

    def _begin_anew(self):
        self._delay_s = self._backoff.first_s
        self._waited_s = 0.0  # since the last end that was not of a daemon that starts
        self._is_lost = False

    def _may_pass(self, error, has_new_credentials):
        if error is None or isinstance(error, _LOSSES):
            return True
        if isinstance(error, _errors.Unauthenticated):
            return has_new_credentials
        if isinstance(error, _errors.ResourceExhausted):
            return not error.is_too_large
        return self._is_lost and isinstance(error, _STARTING) and self._waited_s < self._backoff.patience_s
