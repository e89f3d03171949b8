// SPDX-License-Identifier: Apache-2.0
// Requests the daemon's data again and again.

import { useEffect, useRef, useState } from 'preact/hooks';

const kIntervalMs = 2000;
// A daemon with much data is asked less often: it works for the page in a tenth of the time at most.
const kRestFactor = 10;
const kTimeoutMs = 15000;

const kRefusals = {
  401: 'the daemon does not accept the credentials any more',
  403: 'the identity is not in the policy any more',
};

async function fetchJson(path) {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(kTimeoutMs) });
  if (!response.ok) throw new Error(kRefusals[response.status] ?? `the daemon answers ${response.status}`);
  return response.json();
}

// The shares of an event over the past minutes; an empty history where the daemon keeps none.
export async function fetchHistory(event, seconds) {
  try {
    return await fetchJson(`/page/history?event=${encodeURIComponent(event)}&seconds=${seconds}`);
  } catch {
    return { devices: [] };
  }
}

function reasonOf(error) {
  return error instanceof TypeError || error.name === 'TimeoutError' ? 'the daemon does not answer' : error.message;
}

// {status, answeredMs, error}: the newest answer, when it came, and why there is no newer one. `onStatus` is called with
// each answer. While `paused` nothing is requested.
export function useStatus(paused, onStatus) {
  const [state, setState] = useState({});
  const listener = useRef(onStatus);
  listener.current = onStatus;
  useEffect(() => {
    if (paused) return undefined;
    let timer;
    let stopped = false;
    const poll = async () => {
      const start = performance.now();
      try {
        const status = await fetchJson('/page/status');
        if (stopped) return;
        listener.current(status);
        setState({ status, answeredMs: Date.now() });
      } catch (error) {
        if (stopped) return;
        setState((last) => ({ ...last, error: reasonOf(error) }));
      }
      timer = setTimeout(poll, Math.max(kIntervalMs, kRestFactor * (performance.now() - start)));
    };
    poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [paused]);
  return state;
}
