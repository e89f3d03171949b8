// SPDX-License-Identifier: Apache-2.0
// Requests the daemon's data again and again.

import { useEffect, useRef, useState } from 'preact/hooks';
import { parseAnswer } from './format.js';

const kIntervalMs = 2000;
// A daemon with much data is asked less often: it works for the page in a tenth of the time at most.
const kRestFactor = 10;
const kTimeoutMs = 5000;

const kRefusals = {
  401: 'the daemon does not accept the credentials any more',
  403: 'the identity is not in the policy any more',
};

async function fetchJson(path, timeoutMs) {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
  if (response.ok) return parseAnswer(await response.text());
  const error = new Error(kRefusals[response.status] ?? `the daemon answers ${response.status}`);
  error.status = response.status;
  throw error;
}

// The counts of events over the past minutes. An empty history where the daemon keeps none, or none of the events;
// undefined where it did not answer.
export async function fetchHistory(events, seconds) {
  const query = events.map((event) => `event=${encodeURIComponent(event)}`).join('&');
  try {
    return await fetchJson(`/page/history?${query}&seconds=${seconds}`, 3 * kTimeoutMs);
  } catch (error) {
    return error.status === 404 ? { devices: [] } : undefined;
  }
}

function reasonOf(error) {
  return error.status === undefined ? 'the daemon does not answer' : error.message;
}

// When to ask again, and how long to wait for that answer, after one that took `tookMs`; undefined: there was none.
export function pace(tookMs) {
  if (tookMs === undefined) return { restMs: kIntervalMs, timeoutMs: kTimeoutMs };
  return { restMs: Math.max(kIntervalMs, kRestFactor * tookMs), timeoutMs: Math.max(kTimeoutMs, 3 * tookMs) };
}

// {value, answeredMs, error}: what `onStatus` made of the newest answer, when it came by performance.now(), and why
// there is no newer one. `onStatus` is called with each answer, and the seconds that were to pass since the one before.
// While `paused` nothing is requested.
export function useStatus(paused, onStatus) {
  const [state, setState] = useState({});
  const listener = useRef(onStatus);
  listener.current = onStatus;
  useEffect(() => {
    if (paused) return undefined;
    let timer;
    let stopped = false;
    const poll = async ({ restMs, timeoutMs }) => {
      const start = performance.now();
      let tookMs;
      try {
        const status = await fetchJson('/page/status', timeoutMs);
        if (stopped) return;
        tookMs = performance.now() - start;
        const value = listener.current(status, (restMs + tookMs) / 1000);
        setState({ value, answeredMs: performance.now() });
      } catch (error) {
        if (stopped) return;
        setState((last) => ({ ...last, error: reasonOf(error) }));
      }
      const next = pace(tookMs);
      timer = setTimeout(poll, next.restMs, next);
    };
    poll(pace(undefined));
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [paused]);
  return state;
}

// Seconds since `sinceMs` of performance.now(); the component is rendered each second.
export function useSecondsSince(sinceMs) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return sinceMs === undefined ? 0 : Math.max(0, (performance.now() - sinceMs) / 1000);
}
