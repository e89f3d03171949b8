// SPDX-License-Identifier: Apache-2.0
// A device: its state, its bus, its VMs.

import { useState } from 'preact/hooks';
import { Board } from './board.jsx';
import { Chart } from './chart.jsx';
import { Fact } from './fact.jsx';
import { boardRatio, boardSummary } from './board.js';
import { bootText, durationText, percent, siNumber } from './format.js';
import { countedInPart, deviceProblems } from './model.js';
import { useSecondsSince } from './poll.js';
import { Bar, Bars, Counters, Flags } from './rows.jsx';
import { Vm } from './vm.jsx';

function BusFacts({ health, hasCounters }) {
  return (
    <>
      <Fact name="bus" bad={health.isBusBad}>
        {siNumber(health.transfers)} transactions, {siNumber(health.failed)} failed
        {health.failed > 0 && ` (${percent(health.failed / health.transfers)}: ${health.outcomes.join(', ')})`}
      </Fact>
      {hasCounters && (
        <Fact name="snapshots" bad={health.isReadingBad}>
          {siNumber(health.snapshots)} taken, {siNumber(health.errors)} failed
        </Fact>
      )}
    </>
  );
}

function PipelineFacts({ health }) {
  return (
    <>
      <Fact name="conservation" bad={!health.conservation}>
        {health.conservation ? 'counts add up' : 'COUNTS DO NOT ADD UP'}
      </Fact>
      <Fact name="pipeline" bad={health.faults > 0}>
        {siNumber(health.overruns)} overruns, {siNumber(health.faults)} memory faults
      </Fact>
    </>
  );
}

// A device that is a board alone has neither a clock of its counters nor a boot of them.
function CounterFacts({ device }) {
  const isBoardAlone = device.kind === 'board';
  return (
    <>
      {(device.clockHertz > 0 || isBoardAlone) && (
        <Fact name="clock">{isBoardAlone ? '–' : `${siNumber(device.clockHertz)}Hz`}</Fact>
      )}
      {device.snapshotId !== undefined && <Fact name="snapshot">{device.snapshotId}</Fact>}
      {(device.snapshotId !== undefined || isBoardAlone) && (
        <Fact name="boot">{isBoardAlone ? '–' : bootText(device.bootId)}</Fact>
      )}
    </>
  );
}

function Facts({ device }) {
  const { health } = device;
  const hasCounters = device.kind !== 'board';
  return (
    <dl class="facts">
      {device.kind && <Fact name="kind">{device.kind}</Fact>}
      <Fact name="interval">{durationText(device.interval)}</Fact>
      <CounterFacts device={device} />
      {health && <BusFacts health={health} hasCounters={hasCounters} />}
      {/* What the daemon found in the last snapshot says nothing about a device that does not answer. */}
      {health && hasCounters && device.state === 'fresh' && <PipelineFacts health={health} />}
    </dl>
  );
}

function stateText(device, secondsSinceAnswer) {
  if (device.age === undefined) return `${device.state}: no snapshot yet`;
  return `${device.state}, ${durationText(device.age + secondsSinceAnswer)} old`;
}

function linesOf(device, view) {
  return device.vms
    .map((vm) => ({ label: vm.name, line: view.lineOf(vm), ...view.series.get(vm.key, view.share) }))
    .filter((line) => line.times.length > 0);
}

function VmsChart({ device, view, large }) {
  const lines = linesOf(device, view);
  if (lines.length === 0) return null;
  const label = `${view.share} of the VMs of ${device.name}`;
  return <Chart lines={lines} from={view.from} to={view.to} large={large} label={label} />;
}

function CountedInPart({ device }) {
  return countedInPart(device).map(({ text, events }) => (
    <details class="total" key={text}>
      <summary>
        {events.length} {events.length === 1 ? 'event is' : 'events are'} {text}
      </summary>
      <p class="dim">{events.join(', ')}</p>
    </details>
  ));
}

function Total({ name, row, view }) {
  return (
    <details class="total">
      <summary>
        {name} <Flags flags={row.flags} />
      </summary>
      <Bars shares={row.shares} chosen={view.share} />
      <Counters counters={row.counters} />
    </details>
  );
}

// `answers`: whether the daemon does; else the device's state is unknown. The age grows until the next answer.
function Badge({ device, answers, answeredMs }) {
  const seconds = useSecondsSince(answeredMs);
  if (!answers) return <span class="badge unknown">state unknown</span>;
  return <span class={`badge ${device.state}`}>{stateText(device, seconds)}</span>;
}

// The charts grow to their window, so that a daemon that has just started does not show empty ones.
const kNarrowestSeconds = 30;

function shownTime(device, view) {
  const to = (device.time ?? 0) + (device.age ?? 0);
  const oldest = view.series.oldest(device.name) ?? to;
  return { from: Math.max(to - view.window, Math.min(oldest, to - kNarrowestSeconds)), to };
}

function countText(count, what) {
  return count > 0 && `${count} ${count === 1 ? what : `${what}s`}`;
}

function tenantsText({ vms, board }) {
  const partitions = board?.partitions?.filter(({ instance }) => instance === undefined).length;
  return [countText(vms.length, 'VM'), countText(partitions, 'partition')].filter(Boolean).join(', ');
}

// The row of the overview beside the device's name and state. An open device has the values below it.
// `hasBoards`: whether any device has one.
function Cells({ device, view, open, hasBoards }) {
  const ratio = boardRatio(device.board);
  const problems = deviceProblems(device);
  return (
    <>
      <span class="busy">
        {!open && <VmsChart device={device} view={view} />}
        {!open && device.vms.length === 0 && ratio && <Bar {...ratio} />}
      </span>
      <span>{tenantsText(device)}</span>
      {hasBoards && boardSummary(device.board).map((text, column) => <span key={column}>{!open && text}</span>)}
      <span class="problems" role="alert">
        {problems.map((problem) => (
          <span class="problem" key={problem}>
            {problem}
          </span>
        ))}
      </span>
    </>
  );
}

function Body({ device, view, matches, answeredMs }) {
  return (
    <div class="body">
      <p class="dim">{device.uuid}</p>
      <Facts device={device} />
      {device.board && <Board device={device} answeredMs={answeredMs} />}
      {linesOf(device, view).length > 0 && (
        <figure>
          <figcaption>{view.share} of each VM, of its slice</figcaption>
          <VmsChart device={device} view={view} large />
        </figure>
      )}
      {device.row && <Total name="whole device" row={device.row} view={view} />}
      {device.hosts.map((row) => (
        <Total key={row.key} name={row.name} row={row} view={view} />
      ))}
      <CountedInPart device={device} />
      <div class="vms">
        {device.vms.map((vm) => matches(vm) && <Vm key={vm.key} vm={vm} line={view.lineOf(vm)} view={view} />)}
      </div>
    </div>
  );
}

// Whether the user has opened or closed a device, by its name: it may be left out of the page for a while.
const choices = new Map();

// `opensAll`: it is open unless the user has closed it. A closed device has no body.
export function Device({ device, view, matches, opensAll, hasBoards, answers, answeredMs }) {
  const [asked, setAsked] = useState(choices.get(device.name));
  const open = asked ?? opensAll;
  const here = { ...view, ...shownTime(device, view) };
  const toggle = (event) => {
    event.preventDefault();
    choices.set(device.name, !open);
    setAsked(!open);
  };
  return (
    <section class={`device ${device.state}`}>
      <details open={open}>
        <summary class="row" onClick={toggle}>
          <h2>{device.name}</h2>
          <span>
            <Badge device={device} answers={answers} answeredMs={answeredMs} />
          </span>
          <Cells {...{ device, open, hasBoards }} view={here} />
        </summary>
        {open && <Body {...{ device, matches, answeredMs }} view={here} />}
      </details>
    </section>
  );
}
