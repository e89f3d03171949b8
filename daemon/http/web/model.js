// SPDX-License-Identifier: Apache-2.0
// From the daemon's answer to what the page shows.
//   const model = buildModel(await response.json());
//   for (const device of model.devices) for (const vm of device.vms) show(vm.name, vm.shares, vm.contexts);

import { boardProblems, boardRatio } from './board.js';
import { secondsOf, siNumber } from './format.js';

export const kResidentEvent = 'resident_cycles';
const kStates = { STATE_FRESH: 'fresh', STATE_STALE: 'stale', STATE_AWAY: 'away' };
const kRowStates = { STATE_ACTIVE: '', STATE_IDLE: 'idle', STATE_RETIRED: 'ended' };

// Flags of a row whose counts are wrong. The others tell how they were counted, as countedInPart() does.
const kFlagProblems = {
  overflow: 'a counter has saturated',
  trigger_overrun: 'counts are late',
  mmu_fault: 'counts were dropped',
  rotation_inconsistent: 'bounds of estimates may be wrong: events contradict what the chip says of them',
};
const kFlagTexts = { ...kFlagProblems, confidential_excluded: 'without confidential VMs' };
const kQuietFlags = ['partial', 'estimated'];

// The texts beside a row's name: {text, bad}.
export function flagTexts(flags) {
  return flags
    .filter((flag) => !kQuietFlags.includes(flag))
    .map((flag) => ({ text: kFlagTexts[flag] ?? flag, bad: flag in kFlagProblems }));
}

// Equal for two rows exactly where the counters of one continue in the other.
export function keyOf(scope, bootId) {
  const owner = scope.host ? `host ${scope.slice}` : scope.vm_uuid;
  return [scope.device, bootId, owner, scope.context, scope.generation].join('|');
}

// Of an event in a gate group: the share of its scope's resident cycles in which it was counted, of the count and of the
// rate. NaN, which is a text in the answer, is unknown.
function coverageOf(counter) {
  if (counter.coverage === undefined) return {};
  return { coverage: Number(counter.coverage), rateCoverage: counter.rate_coverage };
}

// Of an event that takes turns. Numbers are texts, and absent if they are unknown.
function estimateOf(counter) {
  const { estimate } = counter;
  if (estimate === undefined) return {};
  return { estimate: { lower: estimate.lower, upper: estimate.upper, deviation: estimate.standard_error } };
}

function countedRow(scopeCounters, bootId) {
  const { scope } = scopeCounters;
  const shares = scopeCounters.ratios.map((ratio) => ({
    name: ratio.name,
    event: ratio.event,
    value: ratio.value,
    capacity: ratio.denominator_per_second,
  }));
  return {
    key: keyOf(scope, bootId),
    name: scope.host ? `hypervisor on slice ${scope.slice}` : scope.context || scope.vm || scope.device,
    uuid: scope.vm_uuid,
    slice: scope.slice,
    state: kRowStates[scopeCounters.state] ?? '',
    flags: scopeCounters.flags,
    takesTurns: Boolean(scope.host || scope.context),
    shares,
    counters: scopeCounters.counters.map((counter) => ({
      event: counter.event,
      count: counter.count,
      rate: counter.rate_per_second,
      share: shares.find((share) => share.event === counter.event)?.value,
      ...coverageOf(counter),
      ...estimateOf(counter),
    })),
    contexts: [],
  };
}

// A VM of which only contexts, or only sealed records, are visible.
function emptyVm(scope, bootId) {
  return {
    key: keyOf({ ...scope, context: '' }, bootId),
    name: scope.vm,
    uuid: scope.vm_uuid,
    slice: scope.slice,
    state: '',
    flags: [],
    confidential: scope.confidential,
    shares: [],
    counters: [],
    contexts: [],
  };
}

class Vms {
  constructor(bootId) {
    this.bootId = bootId;
    this.list = [];
  }

  add(row) {
    this.list.push(row);
  }

  of(scope) {
    const found = this.list.find((vm) => vm.uuid === scope.vm_uuid);
    if (found) return found;
    const vm = emptyVm(scope, this.bootId);
    this.add(vm);
    return vm;
  }
}

function addRows(device, snapshot, vms) {
  for (const scopeCounters of snapshot.scopes) {
    const { scope } = scopeCounters;
    const row = countedRow(scopeCounters, snapshot.boot_id);
    if (scope.host) device.hosts.push(row);
    else if (scope.vm === '') device.row = row;
    else if (scope.context === '') vms.add(row);
    else vms.of(scope).contexts.push(row);
  }
}

function buildDevice(message, snapshot, scopes, age) {
  const device = {
    name: message.name,
    uuid: message.uuid,
    state: kStates[message.state] ?? 'unknown',
    interval: secondsOf(message.interval),
    clockHertz: Number(message.reference_clock_hz),
    hasCounters: message.kinds.includes('KIND_COUNTERS'),
    bootId: message.boot_id,
    age,
    referenceNs: snapshot?.reference_time_ns,
    time: snapshot && Date.parse(snapshot.host_time) / 1000,
    snapshotId: snapshot?.snapshot_id,
    row: undefined,
    hosts: [],
  };
  const vms = new Vms(snapshot?.boot_id);
  if (snapshot) addRows(device, snapshot, vms);
  for (const scope of scopes) {
    if (scope.device === device.name && scope.confidential) vms.of(scope);
  }
  device.vms = vms.list;
  return device;
}

function sumOf(samples) {
  return samples.reduce((sum, sample) => sum + sample.value, 0);
}

// What the daemon reports of reading a device; undefined for callers that may not read it.
function healthOf(device, own) {
  const all = (name) => own.filter((sample) => sample.name === name && sample.labels.device === device);
  const transfers = all('sideband_bus_transfers_total');
  if (transfers.length === 0) return undefined;
  const notOk = transfers.filter((sample) => sample.labels.outcome !== 'ok' && sample.value > 0);
  const [count, failed] = [sumOf(transfers), sumOf(notOk)];
  const snapshots = sumOf(all('sideband_snapshots_total'));
  const errors = sumOf(all('sideband_collect_errors_total'));
  return {
    transfers: count,
    failed,
    isBusBad: failed > 0.01 * count,
    outcomes: notOk.map((sample) => sample.labels.outcome),
    snapshots,
    errors,
    errorShare: errors / (snapshots + errors),
    isReadingBad: errors > 0.05 * (snapshots + errors),
    conservation: all('sideband_conservation_ok')[0]?.value === 1,
    overruns: sumOf(all('sideband_pipeline_trigger_overruns_total')),
    faults: sumOf(all('sideband_pipeline_mmu_faults_total')),
  };
}

// What an operator must know of the daemon itself; empty where all is well.
export function daemonProblems(own, nowSeconds) {
  const problems = [];
  const values = (name) => own.filter((sample) => sample.name === name).map((sample) => sample.value);
  const lost = values('sideband_audit_lost_total')[0] ?? 0;
  if (lost > 0) problems.push(`${lost} audit entries were lost`);
  if (values('sideband_config_last_reload_successful')[0] === 0) problems.push('the last reload was rejected');
  const notAfter = Math.min(...values('sideband_tls_certificate_not_after_timestamp_seconds'));
  const days = Math.floor((notAfter - nowSeconds) / 86400);
  if (days < 0) problems.push('a certificate of the daemon has expired');
  else if (days < 7) problems.push(`a certificate of the daemon expires within ${days === 0 ? 'a day' : `${days + 1} days`}`);
  return problems;
}

// What the device has; undefined if that is not known, and for callers that see no boards.
function kindOf(device, boards) {
  if (boards === undefined || device.age === undefined) return undefined;
  if (!device.hasCounters) return 'board';
  return boards[device.name] ? 'counters and board' : 'counters';
}

export function buildModel(status) {
  const devices = status.devices.map((message) => {
    const snapshot = status.snapshots.find((candidate) => candidate.device === message.name);
    const device = buildDevice(message, snapshot, status.scopes, status.ages[message.name]);
    return {
      ...device,
      kind: kindOf(device, status.boards),
      board: status.boards?.[message.name],
      health: healthOf(message.name, status.own_metrics),
    };
  });
  return {
    version: status.version,
    time: status.time,
    identity: status.identity,
    role: status.role,
    ownMetrics: status.own_metrics,
    devices,
  };
}

// All rows of a device, the device's own first.
export function rowsOf(device) {
  const rows = device.row ? [device.row, ...device.hosts] : [...device.hosts];
  for (const vm of device.vms) rows.push(vm, ...vm.contexts);
  return rows;
}

// Seconds between two snapshots of a device by its own clock; 0 where they are not comparable.
function secondsBetween(before, after) {
  if (!before || before.bootId !== after.bootId || !before.referenceNs || !after.referenceNs) return 0;
  return Number(BigInt(after.referenceNs) - BigInt(before.referenceNs)) / 1e9;
}

// The most that a share's event could count: per second; of a row that takes turns (a context, a slice's hypervisor) per
// cycle of its turns; in a gate group per cycle in which it was counted. The answer has it for its own interval only.
export function capacityOf(share, row) {
  const of = (event) => row.counters.find((counter) => counter.event === event);
  const residentRate = of(kResidentEvent)?.rate;
  const { coverage, rateCoverage, estimate } = of(share.event) ?? {};
  if (coverage !== undefined && !estimate) return { perCountedCycle: share.capacity / (rateCoverage * residentRate) };
  if (!row.takesTurns || !residentRate || share.event === kResidentEvent) return { perSecond: share.capacity };
  return { perResidentCycle: share.capacity / residentRate };
}

function increment(before, after, event) {
  const [from, to] = [before, after].map((row) => row.counters.find((counter) => counter.event === event)?.count);
  return from === undefined || to === undefined ? undefined : Number(BigInt(to) - BigInt(from));
}

// The cycles in which a gated event was counted.
function runningCycles(row, event) {
  const counter = row.counters.find((candidate) => candidate.event === event);
  const resident = row.counters.find((candidate) => candidate.event === kResidentEvent);
  return counter && resident ? counter.coverage * Number(resident.count) : Number.NaN;
}

// NaN where it is not known.
function capacityBetween(before, after, share, seconds) {
  const { perSecond, perResidentCycle, perCountedCycle } = capacityOf(share, after);
  if (perSecond) return perSecond * seconds;
  if (perResidentCycle) return perResidentCycle * (increment(before, after, kResidentEvent) ?? 0);
  return perCountedCycle * (runningCycles(after, share.event) - runningCycles(before, share.event));
}

function meanShare(before, after, share, seconds) {
  const counted = increment(before, after, share.event);
  // Of an estimate the daemon alone knows whether it is exact enough for a share.
  const isEstimate = after.counters.some((counter) => counter.event === share.event && counter.estimate);
  if (counted === undefined || isEstimate) return share.value;
  const capacity = capacityBetween(before, after, share, seconds);
  return capacity > 0 ? Math.min(1, counted / capacity) : share.value;
}

function takeMeansOfRow(before, after, seconds) {
  for (const share of after.shares) {
    if (share.event) share.value = meanShare(before, after, share, seconds);
  }
  for (const counter of after.counters) {
    const counted = increment(before, after, counter.event);
    if (counter.rate !== undefined && counted !== undefined) counter.rate = counted / seconds;
    counter.share = after.shares.find((share) => share.event === counter.event)?.value;
  }
}

// Replaces shares and rates, which the daemon has of the device's last interval, by their means since `before`, the
// model of an earlier answer: a page that asks seldom shows what happened meanwhile, too.
export function takeMeans(before, model) {
  for (const device of model.devices) {
    const earlier = before?.devices.find((candidate) => candidate.name === device.name);
    const seconds = secondsBetween(earlier, device);
    if (seconds <= 0) continue;
    const known = new Map(rowsOf(earlier).map((row) => [row.key, row]));
    for (const row of rowsOf(device)) {
      if (known.has(row.key)) takeMeansOfRow(known.get(row.key), row, seconds);
    }
  }
  return model;
}

// The names of all shares on the page, in the devices' order.
export function shareNames(model) {
  const names = new Set();
  for (const device of model.devices) {
    for (const row of rowsOf(device)) for (const share of row.shares) names.add(share.name);
  }
  return [...names];
}

// A whole number, so that the text of a problem that lasts stays: each new one is announced.
function wholePercent(share) {
  return `${Math.round(100 * share)} %`;
}

// The problems of a device that call for action, as texts.
export function deviceProblems(device) {
  const { health, board } = device;
  const rows = rowsOf(device);
  const ofRows = Object.entries(kFlagProblems).flatMap(([flag, text]) => {
    const names = rows.filter(({ flags }) => flags.includes(flag)).map(({ name }) => name);
    return names.length > 0 ? [`${text}: ${names.join(', ')}`] : [];
  });
  return [
    device.state !== 'fresh' && 'does not answer',
    health?.isBusBad && `${wholePercent(health.failed / health.transfers)} of the bus transactions failed`,
    // A device without counters has no snapshots.
    health?.isReadingBad && device.hasCounters && `${wholePercent(health.errorShare)} of the snapshots failed`,
    // The last snapshot says nothing about a device that does not answer.
    health && device.hasCounters && device.state === 'fresh' && !health.conservation && 'counts do not add up',
    health?.faults > 0 && `${siNumber(health.faults)} memory faults of the pipeline`,
    ...(board ? boardProblems(board) : []),
    ...ofRows,
  ].filter(Boolean);
}

// The events of a device that are not counted all the time: {text, events}.
export function countedInPart(device) {
  const counters = rowsOf(device).flatMap((row) => row.counters);
  const namesOf = (chosen) => [...new Set(counters.filter(chosen).map(({ event }) => event))];
  const isGated = ({ coverage, estimate }) => coverage < 1 && !estimate;
  const notes = [
    { text: 'multiplexed: numbers with ~ are estimates', events: namesOf(({ estimate }) => estimate) },
    { text: 'counted only while a gate is open', events: namesOf(isGated) },
  ];
  return notes.filter(({ events }) => events.length > 0);
}

// The highest share of a device's rows, by the name that the charts show, or of its board; -1 without any.
function activityOf(device, share) {
  const rows = [device.row, ...device.vms].filter(Boolean);
  const values = rows.flatMap((row) => row.shares).filter(({ name }) => name === share).map(({ value }) => value);
  return Math.max(-1, ...values, boardRatio(device.board)?.value ?? -1);
}

// The devices that are shown, in the order 'name', 'problems' (most first) or 'activity' (busiest first).
export function arrange(devices, { order = 'name', onlyProblems, share }) {
  const rank = {
    name: () => 0,
    problems: (device) => -deviceProblems(device).length,
    activity: (device) => -activityOf(device, share),
  }[order];
  return devices
    .filter((device) => !onlyProblems || deviceProblems(device).length > 0)
    .map((device) => ({ device, rank: rank(device) }))
    .sort((a, b) => a.rank - b.rank || a.device.name.localeCompare(b.device.name, 'en', { numeric: true }))
    .map(({ device }) => device);
}
