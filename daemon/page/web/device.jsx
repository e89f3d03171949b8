// SPDX-License-Identifier: Apache-2.0
// A device: its state, its bus, its VMs.

import { Board } from './board.jsx';
import { Chart } from './chart.jsx';
import { Fact } from './fact.jsx';
import { bootText, durationText, percent, siNumber } from './format.js';
import { useSecondsSince } from './poll.js';
import { Bars, Counters, Flags } from './rows.jsx';
import { Vm } from './vm.jsx';

function BusFacts({ health, hasCounters }) {
  const share = health.transfers > 0 ? health.failed / health.transfers : 0;
  return (
    <>
      <Fact name="bus" bad={share > 0.01}>
        {siNumber(health.transfers)} transactions, {siNumber(health.failed)} failed
        {health.failed > 0 && ` (${percent(share)}: ${health.outcomes.join(', ')})`}
      </Fact>
      {hasCounters && (
        <Fact name="snapshots" bad={health.errors > 0.05 * health.snapshots}>
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

function VmsChart({ device, view }) {
  const lines = device.vms
    .map((vm) => ({ label: vm.name, line: view.lineOf(vm), ...view.series.get(vm.key, view.share) }))
    .filter((line) => line.times.length > 0);
  if (lines.length === 0) return null;
  return (
    <figure>
      <figcaption>{view.share} of the VMs, shares of their slices</figcaption>
      <Chart lines={lines} from={view.from} to={view.to} large label={`${view.share} of the VMs of ${device.name}`} />
    </figure>
  );
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

export function Device({ device, view, matches, answers, answeredMs }) {
  const here = { ...view, ...shownTime(device, view) };
  return (
    <section class={`device ${device.state}`}>
      <h2>
        {device.name} <Badge device={device} answers={answers} answeredMs={answeredMs} />
      </h2>
      <p class="dim">{device.uuid}</p>
      <Facts device={device} />
      {device.board && <Board device={device} answeredMs={answeredMs} />}
      <VmsChart device={device} view={here} />
      {device.row && <Total name="whole device" row={device.row} view={view} />}
      {device.hosts.map((row) => (
        <Total key={row.key} name={row.name} row={row} view={view} />
      ))}
      <div class="vms">
        {device.vms.map((vm) => matches(vm) && <Vm key={vm.key} vm={vm} line={view.lineOf(vm)} view={here} />)}
      </div>
    </section>
  );
}
