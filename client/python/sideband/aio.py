# SPDX-License-Identifier: Apache-2.0
"""The asynchronous client, for one event loop.

    async with sideband.aio.Client() as client:
        async for update in client.watch(vm="vm1"): ...
"""

import asyncio

import grpc
import grpc.aio

from sideband import _connection, _errors, _steps
from sideband._methods import Methods
from sideband._watching import END, Watching


class Watch:
    """A stream of a client, as an asynchronous iterator and context manager; otherwise as sideband.client.Watch.

    A task may be cancelled while it waits for an item, as by asyncio.wait_for: the connection stays, the next task gets
    what has come meanwhile, and a delay before a connection goes on.
    """

    def __init__(self, config, stream):
        self._config = config
        self._watching = Watching(config, stream)
        self._connection = None

    @property
    def resume_token(self):
        return self._watching.resume_token

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    def __aiter__(self):
        return self

    async def __anext__(self):
        item = await _steps.run_async(self._watching.next(), self._perform)
        if item is END:
            raise StopAsyncIteration
        return item

    async def close(self):
        """Ends the stream. No task may be waiting for an item."""
        self._watching.close()
        await self._disconnect()

    async def _perform(self, step):
        if isinstance(step, _steps.Connect):
            self._connection = _Connection(self._config.address, step)
        elif isinstance(step, _steps.Read):
            return await self._connection.read(step.silence_max_s)
        elif isinstance(step, _steps.Sleep):
            await asyncio.sleep(step.seconds)
        else:
            await self._disconnect()
        return None

    async def _disconnect(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            # Also if the task is cancelled: nobody else knows the connection any more.
            await asyncio.shield(connection.close())


class Client(Methods):
    __doc__ = Methods.__doc__ + """
        async with sideband.aio.Client() as client:
            print(await client.devices())
    """

    _library = grpc.aio
    _stream_type = Watch

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def close(self):
        """Calls that are under way are cancelled, and streams end."""
        for stream in list(self._streams):
            await stream.close()
        await self._channel.close()

    def _run(self, operation):
        return _steps.run_async(operation, self._perform)

    async def _perform(self, step):
        if isinstance(step, _steps.Sleep):
            return await asyncio.sleep(step.seconds)
        stubs = self._stubs
        try:
            return await self._call(stubs, step)
        except _errors.Error as error:
            await self._renew(error, stubs).close()
        return await self._call(self._stubs, step)

    async def _call(self, stubs, step):
        method = stubs.method(step.service, step.method)
        try:
            answer = await method(step.request, timeout=self.timeout, metadata=_connection.metadata_of(self.config))
        except grpc.RpcError as failure:
            raise _errors.from_rpc(failure, self.config.address) from None
        return step.convert(answer)


class _Connection:
    """A channel with one stream."""

    def __init__(self, address, step):
        self._address = address
        self._channel = _connection.open_channel(grpc.aio, step.endpoint)
        method = _connection.Stubs(self._channel).method(step.service, step.method)
        self._call = method(step.request, metadata=step.metadata)
        # The wait for the next response. It outlives a task that is cancelled: grpc.aio would cancel the call with it.
        self._reading = None
        self._silent_at = None

    async def read(self, silence_max_s):
        loop = asyncio.get_running_loop()
        if self._reading is None:
            self._reading = loop.create_task(self._call.read())
            self._silent_at = None if silence_max_s is None else loop.time() + silence_max_s
        left_s = None if self._silent_at is None else max(0.0, self._silent_at - loop.time())
        done, _ = await asyncio.wait((self._reading,), timeout=left_s)
        if not done:
            raise _errors.silence(silence_max_s, self._address)
        reading, self._reading = self._reading, None
        return self._result_of(reading)

    def _result_of(self, reading):
        try:
            response = reading.result()
        except asyncio.CancelledError:
            raise _errors.Cancelled("the stream was cancelled", self._address) from None
        except grpc.RpcError as failure:
            raise _errors.from_rpc(failure, self._address) from None
        return None if response is grpc.aio.EOF else response

    async def close(self):
        self._call.cancel()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._channel.close()
