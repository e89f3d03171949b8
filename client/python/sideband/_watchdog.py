# SPDX-License-Identifier: Apache-2.0
"""A limit on waits that have none of their own.

    watchdog = Watchdog(call.cancel)
    with watchdog.armed(20.0):
        response = next(call)       # cancelled after 20 s
"""

import threading
import time


class Watchdog:
    """Calls `bite` once, from a thread of its own, if an armed wait takes too long. The waits are those of one thread.

    The thread begins with the first wait that has a limit, and ends with close().
    """

    def __init__(self, bite):
        self._bite = bite
        self.has_bitten = False
        self._changed = threading.Condition()
        # Guarded by _changed.
        self._deadline = None
        self._is_closed = False
        self._thread = None

    def armed(self, seconds):
        """A context in which no more than `seconds` may pass; None sets no limit."""
        self._set(None if seconds is None else time.monotonic() + seconds)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._set(None)

    def close(self):
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _set(self, deadline):
        with self._changed:
            before, self._deadline = self._deadline, deadline
            if deadline is None:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._guard, name="sideband-watchdog", daemon=True)
                self._thread.start()
            elif before is None or deadline < before:
                self._changed.notify()

    def _guard(self):
        with self._changed:
            while not self._is_closed and not self._is_over():
                self._changed.wait(None if self._deadline is None else self._deadline - time.monotonic())
            self.has_bitten = not self._is_closed
        if self.has_bitten:
            self._bite()

    def _is_over(self):
        return self._deadline is not None and self._deadline <= time.monotonic()
