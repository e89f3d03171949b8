# SPDX-License-Identifier: Apache-2.0
"""The synchronous client. Thread-safe, but a stream is for one thread at a time; its close() may be called by any."""

import threading
import time

import grpc

from sideband import _connection, _errors, _steps
from sideband._methods import Methods
from sideband._watchdog import Watchdog
from sideband._watching import END, Watching


class Watch:
    """A stream of a client, as an iterator: watch, watch_state and board_events return it. Also a context manager.

    Each connection is a new one, with the certificate and the token that the files have then. An error is the stream's
    end: each further step raises it again.
    """

    def __init__(self, config, stream):
        self._config = config
        self._watching = Watching(config, stream)
        self._connection = None
        self._closed = threading.Event()

    @property
    def resume_token(self):
        """For a later stream of the same arguments, after what was handed out so far; b"" where the daemon has none."""
        return self._watching.resume_token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self._disconnect()

    def __del__(self):
        # A loop that was left, without a context.
        self._disconnect()

    def __iter__(self):
        return self

    def __next__(self):
        item = _steps.run(self._watching.next(), self._perform)
        if item is END:
            raise StopIteration
        return item

    def close(self):
        """Ends the stream, also for a thread that waits for its next item. May be called more than once."""
        self._watching.close()
        self._closed.set()
        connection = self._connection
        if connection is not None:
            connection.cancel()

    def _perform(self, step):
        if isinstance(step, _steps.Connect):
            self._connection = _Connection(self._config.address, step)
            if self._closed.is_set():
                self._connection.cancel()
        elif isinstance(step, _steps.Read):
            return self._connection.read(step.silence_max_s)
        elif isinstance(step, _steps.Sleep):
            self._closed.wait(step.seconds)
        else:
            self._disconnect()
        return None

    def _disconnect(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class Client(Methods):
    __doc__ = Methods.__doc__ + """
        with sideband.Client() as client:
            for snapshot in client.get(vm="vm1"):
                print(snapshot.row("vm1")["sm_active_cycles"])
    """

    _library = grpc
    _stream_type = Watch

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Calls that are under way are cancelled, and streams end."""
        for stream in list(self._streams):
            stream.close()
        self._channel.close()

    def _run(self, operation):
        return _steps.run(operation, self._perform)

    def _perform(self, step):
        if isinstance(step, _steps.Sleep):
            return time.sleep(step.seconds)
        stubs = self._stubs
        try:
            return self._call(stubs, step)
        except _errors.Error as error:
            self._renew(error, stubs).close()
        return self._call(self._stubs, step)

    def _call(self, stubs, step):
        method = stubs.method(step.service, step.method)
        try:
            answer = method(step.request, timeout=self.timeout, metadata=_connection.metadata_of(self.config))
        except grpc.RpcError as failure:
            raise _errors.from_rpc(failure, self.config.address) from None
        return step.convert(answer)


class _Connection:
    """A channel with one stream."""

    def __init__(self, address, step):
        self._address = address
        self._channel = _connection.open_channel(grpc, step.endpoint)
        method = _connection.Stubs(self._channel).method(step.service, step.method)
        self._call = method(step.request, metadata=step.metadata)
        self._watchdog = Watchdog(self._call.cancel)

    def read(self, silence_max_s):
        try:
            with self._watchdog.armed(silence_max_s):
                return next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError as failure:
            if self._watchdog.has_bitten:
                raise _errors.silence(silence_max_s, self._address) from None
            raise _errors.from_rpc(failure, self._address) from None

    def cancel(self):
        self._call.cancel()

    def close(self):
        self._watchdog.close()
        self._call.cancel()
        self._channel.close()
