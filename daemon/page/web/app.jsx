// SPDX-License-Identifier: Apache-2.0
// The page: a bar with what concerns all devices, then the devices.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Device } from './device.jsx';
import { durationText } from './format.js';
import { buildModel, daemonProblems, shareNames } from './model.js';
import { fetchHistory, useStatus } from './poll.js';
import { SeriesStore, sharesOfHistory } from './series.js';

const kWindowSeconds = 300;
const kFirstShare = 'sm_active';

const series = new SeriesStore(kWindowSeconds);

async function addHistory(model, share) {
  const rows = model.devices.flatMap((device) => [device.row, ...device.vms]).filter(Boolean);
  const event = rows.flatMap((row) => row.shares).find((candidate) => candidate.name === share)?.event;
  if (!event) return;
  const history = await fetchHistory(event, kWindowSeconds);
  for (const past of sharesOfHistory(history, model, share)) series.prepend(past.key, share, past.times, past.values);
}

function Problems({ model, error, answeredMs }) {
  const problems = daemonProblems(model?.ownMetrics ?? [], (answeredMs ?? 0) / 1000);
  if (error) {
    const since = answeredMs ? `; the data below is ${durationText((Date.now() - answeredMs) / 1000)} old` : '';
    problems.unshift(`${error}${since}`);
  }
  return (
    <div role="alert">
      {problems.map((problem) => (
        <p class="problem" key={problem}>
          {problem}
        </p>
      ))}
    </div>
  );
}

function ShareChoice({ names, share, onShare }) {
  return (
    <label>
      charts show{' '}
      <select value={share} onChange={(event) => onShare(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Controls({ names, share, onShare, filter, onFilter, paused, onPause }) {
  return (
    <div class="controls">
      {names.length > 0 && <ShareChoice names={names} share={share} onShare={onShare} />}
      <label>
        VMs with{' '}
        <input type="search" size="10" value={filter} onInput={(event) => onFilter(event.currentTarget.value)} />
      </label>
      <button type="button" aria-pressed={paused} onClick={onPause}>
        {paused ? 'paused – continue' : 'pause'}
      </button>
    </div>
  );
}

// The names stay while devices that do not answer have no shares.
function useShare(model) {
  const [chosen, setChosen] = useState(undefined);
  const known = useRef([]);
  const current = model ? shareNames(model) : [];
  if (current.length > 0) known.current = current;
  const names = known.current;
  const wanted = chosen ?? kFirstShare;
  return { names, share: names.includes(wanted) ? wanted : names[0], setShare: setChosen };
}

function Devices({ model, view, filter, answers }) {
  if (model.devices.length === 0) return <p>No device is visible to this identity now.</p>;
  const matches = (vm) => filter === '' || [vm, ...vm.contexts].some((row) => row.name.includes(filter));
  return (
    <main class={answers ? '' : 'stale'}>
      {model.devices.map((device) => (
        <Device key={device.name} device={device} view={view} matches={matches} answers={answers} />
      ))}
    </main>
  );
}

export function App() {
  const [paused, setPaused] = useState(false);
  const [filter, setFilter] = useState('');
  const { status, error, answeredMs } = useStatus(paused, (answer) => series.addModel(buildModel(answer)));
  const model = status && buildModel(status);
  const { names, share, setShare } = useShare(model);
  const [, setSeeded] = useState(undefined);
  useEffect(() => {
    if (model && share) addHistory(model, share).then(() => setSeeded(share));
  }, [share]);
  return (
    <>
      <header>
        <h1>Sideband</h1>
        <span class="dim">
          {model && `${model.role} · ${model.identity} · sidebandd ${model.version}`}
        </span>
        <Controls
          {...{ names, share, filter, paused }}
          onShare={setShare}
          onFilter={setFilter}
          onPause={() => setPaused(!paused)}
        />
      </header>
      <Problems model={model} error={error} answeredMs={answeredMs} />
      {model && <Devices model={model} view={{ series, share, window: kWindowSeconds }} filter={filter} answers={!error} />}
      <footer class="dim">
        <a href="/metrics">/metrics</a> · <a href="/-/ready">/-/ready</a>
      </footer>
    </>
  );
}
