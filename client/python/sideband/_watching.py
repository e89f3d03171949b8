# SPDX-License-Identifier: Apache-2.0
"""A stream that is opened again as often as it ends: from responses to items, as steps (see _steps).

    watching = Watching(config, Subscription(…))
    item = run(watching.next(), perform)        # END at the end
"""

import collections

from sideband import _connection
from sideband._errors import Error
from sideband._steps import Connect, Disconnect, Read, Sleep

END = object()


class Watching:
    """`stream` is a Subscription, or what has its methods."""

    def __init__(self, config, stream):
        self._config, self._stream = config, stream
        self._items = collections.deque()
        self._metadata = None  # of the open connection
        self._is_closed = False

    @property
    def resume_token(self):
        return self._stream.resume_token

    def close(self):
        """There are no further items; one more next() disconnects."""
        self._is_closed = True

    def next(self):
        """The steps to the next item."""
        while not self._items and not self._is_closed and not self._stream.is_complete:
            yield from self._pull()
        if self._is_closed or not self._items:
            yield from self._disconnect()
            return END
        item = self._items.popleft()
        if not self._items:
            self._stream.settle()
        return item

    def _pull(self):
        """Takes the next response, or waits after the end of a connection."""
        error = response = None
        try:
            if self._metadata is None:
                metadata = _connection.metadata_of(self._config)
                yield Connect(self._stream.service, self._stream.method, self._stream.request(), metadata)
                self._metadata = metadata
            response = yield Read(self._stream.silence_max_s())
        except Error as failure:
            error = failure
        if response is None:
            yield from self._recover(error)
        else:
            yield from self._take(response)

    def _take(self, response):
        try:
            self._items.extend(self._stream.received(response))
        except Error:
            yield from self._disconnect()
            raise
        if not self._items:
            self._stream.settle()

    def _recover(self, error):
        has_new_token = self._metadata is not None and _connection.has_other_token(self._config, self._metadata)
        yield from self._disconnect()
        if not self._is_closed:
            yield Sleep(self._stream.ended(error, has_new_token))

    def _disconnect(self):
        self._metadata = None
        yield Disconnect()
