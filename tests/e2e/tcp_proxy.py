# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy on the loopback whose connections can be cut, or made to fall silent.

    with tcp_proxy.Proxy(site.grpc_port) as proxy:
        client = sideband.Client(config, address="localhost:%d" % proxy.port)
        proxy.cut()
"""

import asyncio
import threading


class Proxy:
    """Runs in a thread of its own until __exit__."""

    def __init__(self, target_port):
        self._target_port = target_port
        self._writers = set()
        self._passes = None  # an event, of the connections since the last hold(): bytes are passed on
        self._held = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = self._run(self._listen())
        self.port = self._server.sockets[0].getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self):
        """Ends all connections; new ones are accepted."""
        self._run(self._cut())

    def hold(self):
        """The present connections stay open, and nothing passes any more until __exit__."""
        self._run(self._hold())

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _hold(self):
        self._held.append(self._passes)
        self._passes.clear()
        self._passes = asyncio.Event()
        self._passes.set()

    async def _listen(self):
        self._passes = asyncio.Event()
        self._passes.set()
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader, writer):
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers |= {writer, there_writer}
        passes = self._passes
        await asyncio.gather(self._pump(reader, there_writer, passes), self._pump(there_reader, writer, passes))

    async def _pump(self, reader, writer, passes):
        try:
            while data := await reader.read(65536):
                await passes.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
            self._writers.discard(writer)

    async def _cut(self):
        for writer in list(self._writers):
            writer.transport.abort()

    async def _close(self):
        self._server.close()
        for held in self._held:
            held.set()
        await self._cut()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        if tasks:
            await asyncio.wait(tasks)
