# SPDX-License-Identifier: Apache-2.0
"""Whether and when a stream that has ended is opened again. No input, output or waiting is done here.

    delay_s = reconnection.ended(error)     # raises the error if the stream is not to be opened again
"""

import dataclasses
import random

from sideband import _errors

_LOSSES = (_errors.Unavailable, _errors.Cancelled, _errors.DeadlineExceeded)
# A daemon that has just started does not know its devices yet, and files are replaced one after the other.
_STARTING = (_errors.NotFound, _errors.ConfigError)


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Delays in seconds: `first_s`, then twice as long each time, up to `last_s`; each between the half and all of it.

    patience_s: for so long after a loss, errors of a daemon that is starting are not final.
    """

    first_s: float = 0.5
    last_s: float = 10.0
    patience_s: float = 30.0


class Reconnection:
    """The state of one stream. Not thread-safe."""

    def __init__(self, backoff=Backoff(), uniform=random.uniform):
        self._backoff, self._uniform = backoff, uniform
        self._delay_s = backoff.first_s
        self._waited_s = 0.0  # since the loss
        self._was_open = False
        self._is_lost = False

    def received(self):
        """A response has come: the stream is open."""
        self._was_open, self._is_lost = True, False
        self._delay_s, self._waited_s = self._backoff.first_s, 0.0

    def ended(self, error, has_new_token=False):
        """Seconds to wait before the stream is opened again. `error` is None if the daemon ended it without one.

        Raises the error if the stream has never been open, or if connecting again does not help. has_new_token: the
        stream was opened with another token than the file has now.
        """
        if not self._was_open or not self._may_pass(error, has_new_token):
            raise error or _errors.Unavailable("the daemon ended the stream before its first response")
        self._is_lost = True
        delay_s = self._uniform(self._delay_s / 2, self._delay_s)
        self._delay_s = min(2 * self._delay_s, self._backoff.last_s)
        delay_s = max(delay_s, getattr(error, "retry_after_s", None) or 0.0)
        self._waited_s += delay_s
        return delay_s

    def _may_pass(self, error, has_new_token):
        if error is None or isinstance(error, _LOSSES):
            return True
        if isinstance(error, _errors.Unauthenticated):
            return has_new_token
        if isinstance(error, _errors.ResourceExhausted):
            return error.retry_after_s is not None
        return self._is_lost and isinstance(error, _STARTING) and self._waited_s < self._backoff.patience_s
