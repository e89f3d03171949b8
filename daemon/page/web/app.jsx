// SPDX-License-Identifier: Apache-2.0
// The page: a bar with what concerns all devices, then the devices.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Device } from './device.jsx';
import { durationText } from './format.js';
import { buildModel, daemonProblems, shareNames, takeMeans } from './model.js';
import { fetchHistory, useSecondsSince, useStatus } from './poll.js';
import { SeriesStore, sharesOfHistory } from './series.js';

const kWindowSeconds = 300;
const kFirstShare = 'sm_active';

const series = new SeriesStore(kWindowSeconds);
const lines = new Map(); // the colour of each VM, which it keeps while others come and go

function lineOf(vm) {
  if (!lines.has(vm.uuid)) lines.set(vm.uuid, lines.size);
  return lines.get(vm.uuid);
}

// Returns whether the daemon has answered.
async function addHistory(model, share) {
  const rows = model.devices.flatMap((device) => [device.row, ...device.vms]).filter(Boolean);
  const event = rows.flatMap((row) => row.shares).find((candidate) => candidate.name === share)?.event;
  if (!event) return true;
  const history = await fetchHistory(event, kWindowSeconds);
  if (!history) return false;
  for (const past of sharesOfHistory(history, model, share)) series.prepend(past.key, share, past.times, past.values);
  return true;
}

// The age is beside the alert, which is announced once.
function NoAnswer({ error, answeredMs }) {
  const seconds = useSecondsSince(answeredMs);
  return (
    <p class="problem">
      <span role="alert">{error}</span>
      {answeredMs !== undefined && <span>; the data below is {durationText(seconds)} old</span>}
    </p>
  );
}

function Problems({ model, error, answeredMs }) {
  return (
    <>
      {error && <NoAnswer error={error} answeredMs={answeredMs} />}
      {daemonProblems(model?.ownMetrics ?? [], model?.time).map((problem) => (
        <p class="problem" role="alert" key={problem}>
          {problem}
        </p>
      ))}
    </>
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
        pause
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

// Asks for the history of the chosen share until the daemon has answered.
function useHistory(model, share) {
  const answered = useRef(undefined);
  const [, setAdded] = useState(undefined);
  useEffect(() => {
    if (!model || !share || answered.current === share) return;
    answered.current = share;
    addHistory(model, share).then((done) => {
      if (done) setAdded(share);
      else answered.current = undefined;
    });
  }, [model, share]);
}

function Devices({ model, view, filter, answers, answeredMs }) {
  if (model.devices.length === 0) return <p>No device is visible to this identity now.</p>;
  const matches = (vm) => filter === '' || [vm, ...vm.contexts].some((row) => row.name.includes(filter));
  return (
    <main class={answers ? '' : 'stale'}>
      {model.devices.map((device) => (
        <Device key={device.name} {...{ device, view, matches, answers, answeredMs }} />
      ))}
    </main>
  );
}

function Who({ model }) {
  const parts = [model.role, model.identity, model.version && `sidebandd ${model.version}`];
  return <span class="dim">{parts.filter(Boolean).join(' · ')}</span>;
}

export function App() {
  const [paused, setPaused] = useState(false);
  const [filter, setFilter] = useState('');
  const before = useRef(undefined);
  const { value: model, error, answeredMs } = useStatus(paused, (status, distance) => {
    const built = buildModel(status);
    // The counts of the answer before are those of this one, whatever is made of its rates.
    const means = takeMeans(before.current, built);
    before.current = built;
    series.addModel(means, distance);
    return means;
  });
  const { names, share, setShare } = useShare(model);
  useHistory(model, share);
  const view = { series, share, window: kWindowSeconds, lineOf };
  return (
    <>
      <header>
        <h1>Sideband</h1>
        {model && <Who model={model} />}
        <Controls
          {...{ names, share, filter, paused }}
          onShare={setShare}
          onFilter={setFilter}
          onPause={() => setPaused(!paused)}
        />
      </header>
      <Problems {...{ model, error, answeredMs }} />
      {paused && <p class="problem">paused: nothing is requested</p>}
      {model && <Devices {...{ model, view, filter, answeredMs }} answers={!error} />}
      <footer class="dim">
        Shares and rates are means since the answer before. · <a href="/metrics">/metrics</a> ·{' '}
        <a href="/-/ready">/-/ready</a>
      </footer>
    </>
  );
}
