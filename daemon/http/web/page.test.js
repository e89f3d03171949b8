// SPDX-License-Identifier: Apache-2.0
// What does not need a browser: `node --test`. tests/e2e/page_test.py runs the page in one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bootText, boundsText, coverageText, durationText, exactCount, parseAnswer, percent, secondsOf, siNumber,
} from './format.js';
import {
  arrange, buildModel, countedInPart, daemonProblems, deviceProblems, flagTexts, shareNames, takeMeans,
} from './model.js';
import { SeriesStore, sharesOfHistory } from './series.js';

test('numbers have three digits and a prefix', () => {
  assert.equal(siNumber(0), '0');
  assert.equal(siNumber(999), '999');
  assert.equal(siNumber(999.6), '1.00 k');
  assert.equal(siNumber(1234567), '1.23 M');
  assert.equal(siNumber(0.5), '0.500');
  assert.equal(siNumber(1.4e9), '1.40 G');
});

test('counts are exact beyond 2^53', () => {
  assert.equal(exactCount('18446744073709551615'), '18,446,744,073,709,551,615');
  assert.equal(exactCount('999'), '999');
  assert.equal(exactCount('1000'), '1,000');
});

test('what would order the text around it is visible', () => {
  const json = JSON.stringify({ devices: [{ name: 'a\u202eb\u2066c\x1b[2J\r\u0085ä' }], number: 1.5, none: null });
  assert.deepEqual(parseAnswer(json), {
    devices: [{ name: 'a\\u202eb\\u2066c\\u001b[2J\\u000d\\u0085ä' }], number: 1.5, none: null,
  });
});

test('shares, durations and boot ids', () => {
  assert.equal(percent(0.4137), '41.4 %');
  assert.equal(secondsOf('0.250s'), 0.25);
  assert.equal(secondsOf(undefined), undefined);
  assert.equal(durationText(0.25), '250 ms');
  assert.equal(durationText(1), '1 s');
  assert.equal(durationText(90), '1 min 30 s');
  assert.equal(durationText(7260), '2 h 1 min');
  assert.equal(durationText(200000), '2 days');
  assert.equal(bootText('255'), '00000000000000ff');
});

const kVm1 = { device: 'gpu0', slice: 0, vm: 'vm1', vm_uuid: 'u1', context: '', generation: 1 };
const kSecret = { device: 'gpu0', vm: 'vm3', vm_uuid: 'u3', context: '', generation: 1, confidential: true };

function scopeOf(scope, value, rest = {}) {
  const ratio = { name: 'sm_active', event: 'sm_active_cycles', value, denominator_per_second: 100 };
  return {
    scope,
    state: 'STATE_ACTIVE',
    flags: [],
    counters: [
      { event: 'sm_active_cycles', count: '7', rate_per_second: 100 * value },
      { event: 'resident_cycles', count: '9', rate_per_second: 50 },
    ],
    ratios: value === undefined ? [] : [ratio],
    ...rest,
  };
}

function statusOf(seconds, value, rest = {}) {
  return {
    version: '1',
    role: 'operator',
    identity: 'ops',
    time: seconds + 0.5,
    ages: { gpu0: 0.5 },
    own_metrics: [],
    devices: [{ name: 'gpu0', uuid: 'd', boot_id: '5', state: 'STATE_FRESH', interval: '1s', reference_clock_hz: '100', kinds: ['KIND_COUNTERS'] }],
    scopes: [kVm1, kSecret],
    snapshots: [
      {
        device: 'gpu0',
        boot_id: '5',
        snapshot_id: 3,
        host_time: new Date(1000 * seconds).toISOString(),
        reference_time_ns: String(1e9 * seconds),
        scopes: [
          scopeOf({ device: 'gpu0', vm: '', vm_uuid: '', context: '', generation: 0 }, undefined),
          scopeOf(kVm1, value),
          scopeOf({ ...kVm1, context: 'train' }, value),
        ],
      },
    ],
    ...rest,
  };
}

test('rows are grouped by device, VM and context', () => {
  const [device] = buildModel(statusOf(1000, 0.5)).devices;
  assert.equal(device.row.name, 'gpu0');
  assert.deepEqual(device.vms.map((vm) => vm.name), ['vm1', 'vm3']);
  assert.deepEqual(device.vms[0].contexts.map((context) => context.name), ['train']);
  assert.equal(device.vms[0].counters[0].share, 0.5);
  assert.equal(device.row.counters[0].share, undefined);
});

test('the hypervisor has a row for each slice, apart from the device and its VMs', () => {
  const hostOf = (slice) => ({ device: 'gpu0', slice, vm: '', vm_uuid: '', context: '', generation: 1, host: true });
  const status = (seconds, count) => {
    const all = statusOf(seconds, 0.5);
    all.snapshots[0].scopes.push(scopeOf(hostOf(0), 0.5), scopeOf(hostOf(1), 0.25));
    all.snapshots[0].scopes.at(-1).counters[0].count = count;
    return all;
  };
  const before = buildModel(status(1000, '7'));
  const [device] = takeMeans(before, buildModel(status(1002, '11'))).devices;
  assert.equal(device.row.name, 'gpu0');
  assert.deepEqual(device.hosts.map((row) => row.name), ['hypervisor on slice 0', 'hypervisor on slice 1']);
  assert.deepEqual(device.vms.map((vm) => vm.name), ['vm1', 'vm3']);
  assert.deepEqual(device.hosts.map((row) => row.counters[0].rate), [0, 2]);
});

test('a confidential VM has no counters', () => {
  const secret = buildModel(statusOf(1000, 0.5)).devices[0].vms[1];
  assert.equal(secret.confidential, true);
  assert.deepEqual(secret.counters, []);
});

test('contexts are shown where the VM itself is not visible', () => {
  const status = statusOf(1000, 0.5);
  status.snapshots[0].scopes = [scopeOf({ ...kVm1, context: 'train' }, 0.5)];
  const [vm] = buildModel(status).devices[0].vms;
  assert.equal(vm.name, 'vm1');
  assert.equal(vm.contexts[0].name, 'train');
});

test('a device without a snapshot has no rows', () => {
  const [device] = buildModel(statusOf(1000, 0.5, { snapshots: [], scopes: [], ages: {} })).devices;
  assert.deepEqual([device.row, device.vms, device.age], [undefined, [], undefined]);
});

test('shares are listed once', () => {
  assert.deepEqual(shareNames(buildModel(statusOf(1000, 0.5))), ['sm_active']);
});

test('health is summed by device', () => {
  const sample = (name, labels, value) => ({ name, labels, value });
  const own = [
    sample('sideband_bus_transfers_total', { device: 'gpu0', outcome: 'ok' }, 98),
    sample('sideband_bus_transfers_total', { device: 'gpu0', outcome: 'timeout' }, 2),
    sample('sideband_bus_transfers_total', { device: 'gpu1', outcome: 'ok' }, 5),
    sample('sideband_conservation_ok', { device: 'gpu0' }, 1),
  ];
  const { health } = buildModel(statusOf(1000, 0.5, { own_metrics: own })).devices[0];
  assert.deepEqual([health.transfers, health.failed, health.outcomes], [100, 2, ['timeout']]);
  assert.equal(health.conservation, true);
  assert.equal(buildModel(statusOf(1000, 0.5)).devices[0].health, undefined);
});

test('problems of the daemon are named', () => {
  const notAfter = (value) => [
    { name: 'sideband_tls_certificate_not_after_timestamp_seconds', labels: { listener: 'http' }, value },
  ];
  assert.deepEqual(daemonProblems(notAfter(1000 + 86400 * 30), 1000), []);
  assert.deepEqual(daemonProblems(notAfter(1000 + 3600), 1000), ['a certificate of the daemon expires within a day']);
  assert.deepEqual(daemonProblems(notAfter(900), 1000), ['a certificate of the daemon has expired']);
  assert.deepEqual(daemonProblems([{ name: 'sideband_audit_lost_total', labels: {}, value: 3 }], 0), [
    '3 audit entries were lost',
  ]);
  assert.deepEqual(daemonProblems([{ name: 'sideband_config_last_reload_successful', labels: {}, value: 0 }], 0), [
    'the last reload was rejected',
  ]);
});

function healthOf(counts) {
  const sample = (name, labels, value) => ({ name: `sideband_${name}`, labels: { device: 'gpu0', ...labels }, value });
  const { ok = 1000, failed = 0, snapshots = 100, errors = 0, conservation = 1, faults = 0 } = counts;
  return [
    sample('bus_transfers_total', { outcome: 'ok' }, ok),
    sample('bus_transfers_total', { outcome: 'timeout' }, failed),
    sample('snapshots_total', {}, snapshots),
    sample('collect_errors_total', {}, errors),
    sample('conservation_ok', {}, conservation),
    sample('pipeline_mmu_faults_total', {}, faults),
  ];
}

test('problems of a device call for action', () => {
  const problemsOf = (counts, change = () => {}) => {
    const status = statusOf(1000, 0.5, { own_metrics: healthOf(counts) });
    change(status);
    return deviceProblems(buildModel(status).devices[0]);
  };
  assert.deepEqual(problemsOf({ ok: 990, failed: 10, snapshots: 95, errors: 5 }), [], 'at their bounds');
  assert.deepEqual(problemsOf({ ok: 980, failed: 20 }), ['2 % of the bus transactions failed']);
  assert.deepEqual(problemsOf({ snapshots: 94, errors: 6 }), ['6 % of the snapshots failed']);
  assert.deepEqual(problemsOf({ snapshots: 0, errors: 1 }), ['100 % of the snapshots failed']);
  const isBoard = (status) => Object.assign(status.devices[0], { kinds: [] });
  assert.deepEqual(problemsOf({ snapshots: 0, errors: 1, conservation: 0 }, isBoard), [], 'it has no snapshots');
  assert.deepEqual(problemsOf({ faults: 2 }), ['2 memory faults of the pipeline']);
  assert.deepEqual(problemsOf({ conservation: 0 }), ['counts do not add up']);
  const stop = (status) => Object.assign(status.devices[0], { state: 'STATE_STALE' });
  assert.deepEqual(problemsOf({ conservation: 0 }, stop), ['does not answer'], 'whatever was found before');
  const flag = (status) => {
    status.snapshots[0].scopes[0].flags = ['confidential_excluded', 'partial'];
    status.snapshots[0].scopes[1].flags = ['estimated', 'overflow'];
    status.snapshots[0].scopes[2].flags = ['overflow'];
  };
  assert.deepEqual(problemsOf({}, flag), ['a counter has saturated: vm1, train']);
  const boards = { gpu0: { nvlinks: { count: 2, down: [1] } } };
  assert.deepEqual(problemsOf({}, (status) => Object.assign(status, { boards })), ['NVLinks down: 1']);
});

test('how a row was counted is no warning', () => {
  assert.deepEqual(flagTexts(['partial', 'estimated']), []);
  assert.deepEqual(flagTexts(['mmu_fault', 'confidential_excluded', 'new_one']), [
    { text: 'counts were dropped', bad: true },
    { text: 'without confidential VMs', bad: false },
    { text: 'new_one', bad: false },
  ]);
});

test('the events that are not counted all the time are named once', () => {
  const status = statusOf(1000, 0.5);
  const [, vm, context] = status.snapshots[0].scopes;
  assert.deepEqual(countedInPart(buildModel(status).devices[0]), []);
  for (const row of [vm, context]) {
    Object.assign(row.counters[0], { coverage: 0.25, estimate: { lower: '1' } });
    row.counters.push({ event: 'tlb_hits', count: '1', coverage: 0.5 });
    row.counters.push({ event: 'tlb_misses', count: '1', coverage: 1 });
  }
  assert.deepEqual(countedInPart(buildModel(status).devices[0]), [
    { text: 'multiplexed: numbers with ~ are estimates', events: ['sm_active_cycles'] },
    { text: 'counted only while a gate is open', events: ['tlb_hits'] },
  ]);
});

test('devices are in the order of names, problems or work', () => {
  const [first] = buildModel(statusOf(1000, 0.5)).devices;
  const busy = { ...first, name: 'gpu10' };
  const away = { ...first, name: 'gpu2', state: 'away', row: undefined, vms: [] };
  const board = { ...away, name: 'gpu1', state: 'fresh', board: { ratios: [{ name: 'SM activity', value: 0.25 }] } };
  const namesOf = (rest) => arrange([busy, away, board], { share: 'sm_active', ...rest }).map(({ name }) => name);
  assert.deepEqual(namesOf({}), ['gpu1', 'gpu2', 'gpu10']);
  assert.deepEqual(namesOf({ order: 'problems' }), ['gpu2', 'gpu1', 'gpu10']);
  assert.deepEqual(namesOf({ order: 'activity' }), ['gpu10', 'gpu1', 'gpu2']);
  assert.deepEqual(namesOf({ onlyProblems: true }), ['gpu2']);
});

test('series keep the window', () => {
  const store = new SeriesStore(10);
  let model;
  for (let second = 1000; second < 1020; second += 1) {
    model = buildModel(statusOf(second, 0.5));
    store.addModel(model);
  }
  const { times } = store.get(model.devices[0].vms[0].key, 'sm_active');
  assert.deepEqual([times[0], times.at(-1)], [1010, 1019]);
});

test('the same snapshot is added once', () => {
  const store = new SeriesStore(10);
  const model = buildModel(statusOf(1000, 0.5));
  store.addModel(model);
  store.addModel(model);
  assert.equal(store.get(model.devices[0].vms[0].key, 'sm_active').times.length, 1);
  assert.equal(store.oldest('gpu0'), 1000);
  assert.equal(store.oldest('gpu1'), undefined);
});

test('a device that does not answer has a gap', () => {
  const store = new SeriesStore(60);
  const model = buildModel(statusOf(1000, 0.5));
  store.addModel(model);
  const stale = buildModel(statusOf(1000, undefined));
  Object.assign(stale.devices[0], { state: 'stale', age: 7 });
  store.addModel(stale);
  store.addModel(stale);
  assert.deepEqual(store.get(model.devices[0].vms[0].key, 'sm_active').values, [0.5, null]);
});

test('a device that has been removed leaves no series', () => {
  const store = new SeriesStore(60);
  const model = buildModel(statusOf(1000, 0.5));
  store.addModel(model);
  store.addModel({ devices: [{ ...model.devices[0], name: 'gpu1', time: undefined }] });
  assert.equal(store.series.size, 0);
});

test('a line has a gap where the page did not ask', () => {
  const store = new SeriesStore(600);
  const add = (second) => store.addModel(buildModel(statusOf(second, 0.5)), 2);
  add(1000);
  add(1004);
  const model = buildModel(statusOf(1200, 0.5));
  store.addModel(model, 2);
  const { times, values } = store.get(model.devices[0].vms[0].key, 'sm_active');
  assert.deepEqual(values, [0.5, 0.5, null, 0.5]);
  assert.deepEqual(times, [1000, 1004, 1102, 1200]);
});

test('a clock that is set back leaves nothing ahead', () => {
  const store = new SeriesStore(600);
  store.addModel(buildModel(statusOf(5000, 0.5)));
  const model = buildModel(statusOf(1000, 0.5));
  store.addModel(model);
  assert.deepEqual(store.get(model.devices[0].vms[0].key, 'sm_active').times, [1000]);
});

function countOf(model, row, event, count) {
  row(model.devices[0]).counters.find((counter) => counter.event === event).count = count;
}

test('shares and rates are means since the answer before', () => {
  const [before, after] = [buildModel(statusOf(1000, 0.5)), buildModel(statusOf(1010, 0.5))];
  countOf(after, (device) => device.vms[0], 'sm_active_cycles', '107');
  const [vm] = takeMeans(before, after).devices[0].vms;
  assert.equal(vm.shares[0].value, 0.1); // 100 counted in 10 s, of 100 a second
  assert.equal(vm.counters[0].rate, 10);
  assert.equal(vm.counters[0].share, 0.1);
});

test('the share of a context is of the time in which it was resident', () => {
  const [before, after] = [buildModel(statusOf(1000, 0.5)), buildModel(statusOf(1010, 0.5))];
  const train = (device) => device.vms[0].contexts[0];
  countOf(after, train, 'sm_active_cycles', '107');
  countOf(after, train, 'resident_cycles', '209');
  // In a resident cycle 100 / 50 could be counted; 200 of them have passed.
  assert.equal(train(takeMeans(before, after).devices[0]).shares[0].value, 0.25);
});

test('the share of an event in a gate group is of the time in which it was counted', () => {
  const [before, after] = [buildModel(statusOf(1000, 0.5)), buildModel(statusOf(1010, 0.5))];
  const vm1 = (device) => device.vms[0];
  Object.assign(vm1(before.devices[0]).counters[0], { coverage: 1, rateCoverage: 1 });
  Object.assign(vm1(after.devices[0]).counters[0], { coverage: 109 / 209, rateCoverage: 0.5 });
  countOf(after, vm1, 'sm_active_cycles', '107');
  countOf(after, vm1, 'resident_cycles', '209');
  // In a counted cycle 100 / (0.5 · 50) could be counted; 109 - 9 of them have passed.
  const { value } = vm1(takeMeans(before, after).devices[0]).shares[0];
  assert.ok(Math.abs(value - 0.25) < 1e-12);
});

test('a coverage is 100 % only if it is whole', () => {
  assert.equal(coverageText(1), '100 %');
  assert.equal(coverageText(0.99999), '99.9 %');
  assert.equal(coverageText(Number.NaN), '?');
  const status = statusOf(1000, 0.5);
  Object.assign(status.snapshots[0].scopes[1].counters[0], { coverage: 'NaN' });
  const [counter, resident] = buildModel(status).devices[0].vms[0].counters;
  assert.ok(Number.isNaN(counter.coverage));
  assert.ok(!('coverage' in resident));
});

test('an estimate has bounds', () => {
  const status = statusOf(1000, 0.5);
  const estimate = { lower: '1000', upper: '20000', standard_error: '300' };
  Object.assign(status.snapshots[0].scopes[1].counters[0], { coverage: 0.5, estimate });
  const [counter, resident] = buildModel(status).devices[0].vms[0].counters;
  assert.equal(boundsText(counter.estimate), 'an estimate: at least 1,000, at most 20,000; standard error 300');
  assert.equal(boundsText({ lower: '7' }), 'an estimate: at least 7, at most unknown; standard error unknown');
  assert.ok(!('estimate' in resident));
});

test('without comparable counts the last interval stands', () => {
  const after = buildModel(statusOf(1010, 0.5));
  assert.equal(takeMeans(undefined, after).devices[0].vms[0].shares[0].value, 0.5);
  const reset = buildModel(statusOf(1000, 0.5));
  reset.devices[0].bootId = '6';
  assert.equal(takeMeans(reset, after).devices[0].vms[0].shares[0].value, 0.5);
  assert.equal(takeMeans(after, after).devices[0].vms[0].shares[0].value, 0.5, 'the same snapshot again');
});

const kHistory = {
  devices: [
    {
      device: 'gpu0',
      events: ['sm_active_cycles', 'resident_cycles'],
      points: [
        { host_time: '1970-01-01T00:16:30Z', reference_time_ns: '1000000000' },
        { host_time: '1970-01-01T00:16:32Z', reference_time_ns: '3000000000' },
        { host_time: '1970-01-01T00:16:33Z', reference_time_ns: '4000000000' },
      ],
      series: [
        { scope: kVm1, boot_id: '5', first_point: 0, columns: [{ event: 0, counts: ['100', '150'] }] },
        {
          scope: { ...kVm1, context: 'train' },
          boot_id: '5',
          first_point: 0,
          columns: [{ event: 0, counts: ['100', '150', '150'] }, { event: 1, counts: ['0', '40', '40'] }],
        },
        { scope: kVm1, boot_id: '4', first_point: 0, columns: [{ event: 0, counts: ['1', '2'] }] },
      ],
    },
  ],
};

test('the past of a context is of the time in which it was resident', () => {
  const model = buildModel(statusOf(1000, 0.5));
  const [, train] = sharesOfHistory(kHistory, model, 'sm_active');
  // In a resident cycle 100 / 50 could be counted.
  const { key } = model.devices[0].vms[0].contexts[0];
  assert.deepEqual(train, { key, times: [992, 993], values: [50 / 80, null] });
  assert.deepEqual([...sharesOfHistory(kHistory, model, 'sm_active', new Set([key]))].length, 1, 'others are left out');
});

// The values of vm1, whose event has `counter` now and `coverage` in the past.
function pastOf(counter, coverage, status = statusOf(1000, 0.5)) {
  const history = structuredClone(kHistory);
  Object.assign(status.snapshots[0].scopes[1].counters[0], counter);
  history.devices[0].series[0].columns = [
    { event: 0, counts: ['100', '120', '150'], coverage },
    { event: 1, counts: ['0', '40', '80'] },
  ];
  return [...sharesOfHistory(history, buildModel(status), 'sm_active')][0].values;
}

test('the past of an event in a gate group is of the time in which it was counted', () => {
  const coverage = { of_counts: [1, 1, 1], of_intervals: ['NaN', 0.25, 'NaN'] };
  // In a counted cycle 100 / (0.5 · 50) could be counted; 0.25 · 40 of them have passed.
  assert.deepEqual(pastOf({ coverage: 0.5, rate_coverage: 0.5 }, coverage), [0.5, null]);
  assert.deepEqual(pastOf({ coverage: 0.5 }, coverage), [null, null], 'its capacity is not known');
});

test('the past of an estimate is of all cycles', () => {
  const coverage = { of_counts: ['NaN', 'NaN', 'NaN'], of_intervals: [0, 'NaN', 0] };
  const estimate = { coverage: 0.25, estimate: { lower: '1' } };
  assert.deepEqual(pastOf(estimate, coverage), [0.1, null], '0: it was not counted');
  const gated = statusOf(1000, 0.5);
  gated.snapshots[0].scopes[1].ratios[0].denominator_per_second = 74.5;
  assert.deepEqual(pastOf(estimate, coverage, gated), [null, null], 'a gate may have been closed');
});

test('shares of the past come before those of the present', () => {
  const model = buildModel(statusOf(1000, 0.5));
  const past = [...sharesOfHistory(kHistory, model, 'sm_active')].slice(0, 1);
  assert.deepEqual(past, [{ key: model.devices[0].vms[0].key, times: [992], values: [0.25] }]);
  const store = new SeriesStore(60);
  store.addModel(model);
  store.prepend(past[0].key, 'sm_active', past[0].times, past[0].values);
  store.prepend(past[0].key, 'sm_active', past[0].times, past[0].values);
  assert.deepEqual(store.get(past[0].key, 'sm_active'), { times: [992, 1000], values: [0.25, 0.5] });
});
