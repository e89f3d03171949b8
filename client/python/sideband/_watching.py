# SPDX-License-Identifier: Apache-2.0
"""A stream that is opened again as often as it ends: from responses to items, as steps (see _steps).

    watching = Watching(config, Subscription(…))
    item = run(watching.next(), perform)        # END at the end

Steps may be left at any of them, as by a task that is cancelled: what has come is kept, and so is the delay before the
next connection.
"""

import collections
import time

from sideband import _connection
from sideband._errors import Error
from sideband._steps import Connect, Disconnect, Read, Sleep

END = object()


class Watching:
    """`stream` is a Subscription, or what has its methods."""

    def __init__(self, config, stream, now=time.monotonic):
        self._config, self._stream, self._now = config, stream, now
        self._items = collections.deque()
        self._opened = None  # the Connect of the open connection
        self._not_before = None  # the time before which no other is opened
        self._final = None  # the error that has ended the stream
        self._is_closed = False

    @property
    def resume_token(self):
        return self._stream.resume_token

    def close(self):
        """There are no further items; one more next() disconnects."""
        self._is_closed = True

    def next(self):
        """The steps to the next item. A final error is raised now and by each further call."""
        while not (self._items or self._is_closed or self._final or self._stream.is_complete):
            yield from self._pull() if self._not_before is None else self._wait()
        if self._is_closed or not self._items:
            yield from self._disconnect()
            if self._final and not self._is_closed:
                raise self._final
            return END
        item = self._items.popleft()
        if not self._items:
            self._stream.settle()
        return item

    def _wait(self):
        yield Sleep(max(0.0, self._not_before - self._now()))
        self._not_before = None

    def _pull(self):
        """Takes the next response, or the end of the connection."""
        error = response = None
        try:
            if self._opened is None:
                yield from self._connect()
            response = yield Read(self._stream.silence_max_s())
        except Error as failure:
            error = failure
        if response is not None:
            self._take(response)
        elif not self._is_closed:
            yield from self._recover(error)

    def _connect(self):
        endpoint, metadata = _connection.endpoint_of(self._config), _connection.metadata_of(self._config)
        step = Connect(self._stream.service, self._stream.method, self._stream.request(), endpoint, metadata)
        yield step
        self._opened = step

    def _take(self, response):
        try:
            self._items.extend(self._stream.received(response))
        except Error as error:
            self._final = error
        if not self._items and not self._final:
            self._stream.settle()

    def _recover(self, error):
        opened = self._opened
        has_new_credentials = opened is not None and _connection.has_other_credentials(
            self._config, opened.endpoint, opened.metadata)
        # Before the next step, which may be the last one.
        try:
            self._not_before = self._now() + self._stream.ended(error, has_new_credentials)
        except Error as final:
            self._final = final
        yield from self._disconnect()

    def _disconnect(self):
        self._opened = None
        yield Disconnect()
