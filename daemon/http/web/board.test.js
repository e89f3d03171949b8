// SPDX-License-Identifier: Apache-2.0
// What the page says of boards: `node --test`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boardFacts, boardProblems, boardRatio, boardSummary, messageTime, partitionTable } from './board.js';
import { bytesText } from './format.js';
import { buildModel } from './model.js';

const kGib = 2 ** 30;

const kFull = {
  name: 'Sideband Board',
  driver: '550.54',
  temperatures: [{ name: 'GPU0', value: 61.53 }, { name: 'memory', value: -0.5 }],
  thresholds: [{ name: 'target', value: 78 }, { name: 'HW slowdown', value: 90 }],
  margin: 28.47,
  margin_thresholds: [{ name: 'shutdown', value: -7 }],
  powers: [{ name: 'total', value: 412.345, limit: 400 }, { name: 'memory', value: 60 }],
  clocks: [{ name: 'graphics', value: 1.2e9, maximum: 1.4e9 }, { name: 'memory', value: 2.619e9 }],
  performance_state: 1,
  throttling: ['SW power cap', 'HW thermal'],
  memory: { used: 40 * kGib, total: 80 * kGib },
  ecc: [{ name: 'SRAM', corrected: '0', uncorrected: '1' }, { name: 'DRAM', corrected: '18446744073709551615' }],
  remapped_rows: { corrected: '0', uncorrected: '1', is_pending: true, has_failed: false, has_excess: false },
  retired_pages: { single_bit: 4 },
  nvlinks: { count: 4, up: 3, down: [2], errors: '7' },
  pcie: { generation: 4, lanes: 16, errors: '9', replays: '0' },
  oldest: { name: 'partitions', age: 59 },
};

// {name: [text, bad]}
function factsOf(board, seconds) {
  return Object.fromEntries(boardFacts(board, seconds).map(({ name, text, bad }) => [name, [text, bad]]));
}

test('a board is described by what is known of it', () => {
  assert.deepEqual(factsOf(kFull, 2), {
    board: ['Sideband Board, driver 550.54', false],
    temperature: ['GPU0 61.5 °C, memory -0.5 °C', false],
    thresholds: ['target 78 °C, HW slowdown 90 °C', false],
    margin: ['28.5 °C; shutdown at -7', false],
    power: ['total 412.3 of 400 W, memory 60 W', false],
    clocks: ['graphics 1.20 GHz of 1.40 GHz, memory 2.62 GHz, P1', false],
    throttled: ['SW power cap, HW thermal', true],
    memory: ['40 GiB of 80 GiB', false],
    'ECC errors': ['SRAM 0 corrected, 1 uncorrected; DRAM 18,446,744,073,709,551,615 corrected', true],
    'remapped rows': ['0 corrected, 1 uncorrected, pending', true],
    'retired pages': ['4 for one bit', false],
    NVLinks: ['3 of 4 up (down: 2), 7 errors', true],
    PCIe: ['generation 4 × 16 lanes, 9 errors, 0 replays', false],
    'oldest reading': ['partitions, 1 min 1 s ago', false],
  });
});

test('problems of a board call for action', () => {
  assert.deepEqual(boardProblems(kFull), [
    'slowed down: HW thermal',
    'uncorrected ECC errors: SRAM 1',
    'NVLinks down: 2',
  ]);
  const attention = ['a row waits for its replacement, which needs a reset'];
  assert.deepEqual(boardProblems({ attention, is_hot: true }), [...attention, 'hot enough to be slowed down']);
  assert.deepEqual(boardProblems({ throttling: ['HW thermal'], is_hot: true }), ['slowed down: HW thermal']);
  const limited = { throttling: ['SW power cap', 'sync boost'] };
  assert.deepEqual(boardProblems(limited), [], 'an operator has set these');
  assert.deepEqual(factsOf(limited), { throttled: ['SW power cap, sync boost', false] });
  assert.deepEqual(boardProblems({}), []);
});

test('a row of the overview has a few values of a board', () => {
  assert.deepEqual(boardSummary(kFull), ['61.5 °C', '412.3 of 400 W', '40 GiB of 80 GiB']);
  assert.deepEqual(boardSummary(undefined), [undefined, undefined, undefined]);
  const [engine, sm] = [{ name: 'engine active', value: 0.5 }, { name: 'SM activity', value: 0.25 }];
  assert.equal(boardRatio({ ratios: [engine, sm] }), sm);
  assert.equal(boardRatio({ ratios: [engine] }), engine);
  assert.equal(boardRatio({}), undefined);
  assert.equal(boardRatio(undefined), undefined);
});

test('what is unknown of a board is left out', () => {
  assert.deepEqual(boardFacts({}), []);
  assert.deepEqual(factsOf({ memory: { reserved: 1 } }), {});
  assert.deepEqual(factsOf({ memory: { used: 3 * kGib } }), { memory: ['3 GiB used', false] });
  assert.deepEqual(factsOf({ memory: { total: 3 * kGib } }), { memory: ['3 GiB', false] });
  assert.deepEqual(factsOf({ pcie: { lanes: 8 } }), { PCIe: ['8 lanes', false] });
  assert.deepEqual(factsOf({ pcie: { lanes: 1, errors: '1', replays: '1' } }), {
    PCIe: ['1 lane, 1 error, 1 replay', false],
  });
  assert.deepEqual(factsOf({ nvlinks: { count: 2 } }), { NVLinks: ['2', false] });
  assert.deepEqual(factsOf({ driver: '1' }), { board: ['driver 1', false] });
  assert.deepEqual(factsOf({ performance_state: 0 }), { clocks: ['P0', false] });
});

test('a value of zero is shown', () => {
  assert.deepEqual(factsOf({ powers: [{ name: 'total', value: 0 }] }), { power: ['total 0 W', false] });
  assert.deepEqual(factsOf({ margin: 0, is_hot: true }), { margin: ['0 °C', true] });
  assert.deepEqual(factsOf({ throttling: [] }), { throttled: ['no', false] });
  assert.deepEqual(factsOf({ remapped_rows: { is_pending: false, has_failed: false } }), {
    'remapped rows': ['none pending', false],
  });
});

test('sizes have binary prefixes', () => {
  assert.equal(bytesText(0), '0 B');
  assert.equal(bytesText(1023), '1023 B');
  assert.equal(bytesText(1536), '1.5 KiB');
  assert.equal(bytesText(2 ** 44), '16 TiB');
  assert.equal(bytesText(2 ** 54), '16384 TiB');
});

test('partitions are a table of the ratios that any of them has', () => {
  const ratio = (name, value) => ({ name, value });
  const partitions = [
    { partition: 1, ratios: [ratio('SM activity', 0.5)] },
    { partition: 1, instance: 0, ratios: [ratio('DRAM usage', 0), ratio('SM activity', 1)] },
  ];
  assert.deepEqual(partitionTable(partitions), {
    names: ['SM activity', 'DRAM usage'],
    rows: [
      { name: '1', values: [0.5, undefined] },
      { name: '1, instance 0', values: [1, 0] },
    ],
  });
});

test('the time of a message is of the driver, whose clock may be anything', () => {
  assert.equal(messageTime(1700000000), '2023-11-14 22:13:20Z');
  assert.equal(messageTime(0), '1970-01-01 00:00:00Z');
  assert.equal(messageTime(2 ** 32 - 1), '2106-02-07 06:28:15Z');
});

function modelOf(kinds, boards, ages = { gpu0: 1 }) {
  const device = { name: 'gpu0', uuid: '', boot_id: '0', state: 'STATE_FRESH', interval: '1s', reference_clock_hz: '0', kinds };
  return buildModel({ devices: [device], boards, ages, own_metrics: [], scopes: [], snapshots: [] }).devices[0];
}

test('the kind of a device is what it has', () => {
  assert.equal(modelOf(['KIND_COUNTERS'], {}).kind, 'counters');
  assert.equal(modelOf(['KIND_COUNTERS'], { gpu0: kFull }).kind, 'counters and board');
  assert.equal(modelOf([], { gpu0: kFull }).kind, 'board');
  assert.equal(modelOf([], {}).kind, 'board', 'also while its sensors are silent');
  assert.equal(modelOf([], {}, {}).kind, undefined, 'a device that has not answered may have anything');
  assert.equal(modelOf(['KIND_COUNTERS'], undefined).kind, undefined, 'operators alone see boards');
  assert.equal(modelOf([], { gpu0: kFull }).board, kFull);
});
