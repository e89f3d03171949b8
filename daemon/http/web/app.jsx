// SPDX-License-Identifier: Apache-2.0
// The page: a bar with what concerns all devices, then the devices.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Device } from './device.jsx';
import { durationText } from './format.js';
import { arrange, buildModel, daemonProblems, kResidentEvent, rowsOf, shareNames, takeMeans } from './model.js';
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

// The counts behind the share, with the resident cycles. undefined: the daemon did not answer.
function fetchPast(model, share) {
  const rows = model.devices.flatMap(rowsOf);
  const event = rows.flatMap((row) => row.shares).find((candidate) => candidate.name === share)?.event;
  if (!event) return Promise.resolve({ devices: [] });
  const hasResident = rows.some((row) => row.counters.some((counter) => counter.event === kResidentEvent));
  return fetchHistory([...new Set(hasResident ? [event, kResidentEvent] : [event])], kWindowSeconds);
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

function Choice({ label, options, value, onValue }) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const kOrders = [['name', 'name'], ['problems', 'problems first'], ['activity', 'busiest first']];

// `overview`: {order, onlyProblems}; undefined for one device, which needs none.
function Controls({ names, share, onShare, filter, onFilter, overview, onOverview, paused, onPause }) {
  return (
    <div class="controls">
      {names.length > 0 && (
        <Choice label="charts of" options={names.map((name) => [name, name])} value={share} onValue={onShare} />
      )}
      <label>
        find a VM{' '}
        <input type="search" size="10" value={filter} onInput={(event) => onFilter(event.currentTarget.value)} />
      </label>
      {overview && (
        <>
          <Choice
            label="sort by"
            options={kOrders}
            value={overview.order}
            onValue={(order) => onOverview({ ...overview, order })}
          />
          <label>
            <input
              type="checkbox"
              checked={overview.onlyProblems}
              onChange={(event) => onOverview({ ...overview, onlyProblems: event.currentTarget.checked })}
            />{' '}
            only problems
          </label>
        </>
      )}
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

// Asks for the history of the chosen share until the daemon has answered. A row gets its past when it has the share:
// a context that is idle has none.
function useHistory(model, share) {
  const asked = useRef(undefined);
  const [past, setPast] = useState({});
  useEffect(() => {
    if (!model || !share || asked.current === share) return;
    asked.current = share;
    fetchPast(model, share).then((history) => {
      if (asked.current !== share) return; // another one was chosen meanwhile
      if (history) setPast({ share, history, done: new Set() });
      else asked.current = undefined;
    });
  }, [model, share]);
  useMemo(() => {
    if (!model || !past.history) return;
    for (const { key, times, values } of sharesOfHistory(past.history, model, past.share, past.done)) {
      series.prepend(key, past.share, times, values);
      past.done.add(key);
    }
  }, [model, past]);
}

function Columns({ share, hasBoards }) {
  const ofBoards = hasBoards ? ['temperature', 'power', 'memory'] : [];
  const names = ['device', 'state', share ?? 'activity', 'VMs', ...ofBoards, 'problems'];
  return (
    <div class="row columns dim" aria-hidden="true">
      {names.map((name, column) => (
        <span key={column}>{name}</span>
      ))}
    </div>
  );
}

// The first letter of a name may find all devices: with the charts of all VMs the page would be slow.
const kFoundOpenMax = 4;

function Devices({ model, view, filter, overview, answers, answeredMs }) {
  if (model.devices.length === 0) return <p>No device is visible to this identity now.</p>;
  const matches = (vm) => filter === '' || [vm, ...vm.contexts].some((row) => row.name.includes(filter));
  const hasBoards = model.devices.some((device) => device.board);
  const shown = arrange(model.devices, { ...overview, share: view.share }).filter(
    (device) => filter === '' || device.vms.some(matches),
  );
  const opensAll = model.devices.length === 1 || (filter !== '' && shown.length <= kFoundOpenMax);
  return (
    <main class={`${answers ? '' : 'stale'} ${hasBoards ? 'boards' : ''}`}>
      {shown.length > 1 && <Columns share={view.share} hasBoards={hasBoards} />}
      {shown.map((device) => (
        <Device key={device.name} {...{ device, view, matches, opensAll, hasBoards, answers, answeredMs }} />
      ))}
      {shown.length === 0 && <p class="dim">No device has {filter === '' ? 'a problem' : 'such a VM'}.</p>}
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
  const [overview, setOverview] = useState({ order: 'name', onlyProblems: false });
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
  const several = model?.devices.length > 1 ? overview : undefined;
  return (
    <>
      <header>
        <h1>Sideband</h1>
        {model && <Who model={model} />}
        <Controls
          {...{ names, share, filter, paused }}
          overview={several}
          onOverview={setOverview}
          onShare={setShare}
          onFilter={setFilter}
          onPause={() => setPaused(!paused)}
        />
      </header>
      <Problems {...{ model, error, answeredMs }} />
      {paused && <p class="problem">paused: nothing is requested</p>}
      {model && <Devices {...{ model, view, filter, answeredMs }} overview={several} answers={!error} />}
      <footer class="dim">
        Shares and rates are means since the page's last update. · <a href="/metrics">/metrics</a> ·{' '}
        <a href="/-/ready">/-/ready</a>
      </footer>
    </>
  );
}
