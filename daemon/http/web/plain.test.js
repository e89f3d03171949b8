// SPDX-License-Identifier: Apache-2.0
// The page of a build without npm, in a document of which only the texts are known.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

class Element {
  constructor(tag) {
    this.tag = tag;
    this.className = '';
    this.children = [];
  }
  append(...children) {
    this.children.push(...children);
  }
  prepend(...children) {
    this.children.unshift(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  querySelector(selector) {
    const found = this.children.find((child) => child.className.split(' ').includes(selector.slice(1)));
    return found && { remove: () => this.children.splice(this.children.indexOf(found), 1) };
  }
}

// The texts of an element's cells, headings, paragraphs and footer, in their order.
function textsOf(element) {
  const text = (child) => (typeof child === 'string' ? child : child.children.map(text).join(''));
  const whole = ['h1', 'h2', 'h3', 'p', 'td', 'th', 'footer'];
  return element.children.flatMap((child) => {
    if (typeof child === 'string') return [];
    return whole.includes(child.tag) ? [text(child)] : textsOf(child);
  });
}

const place = new Element('div');
const answers = [];
let pollAgain;
globalThis.document = { createElement: (tag) => new Element(tag), getElementById: () => place };
globalThis.fetch = async () => answers.shift();
globalThis.setTimeout = (poll, _, model) => {
  pollAgain = () => poll(model);
};

const answer = (status) => ({ ok: true, text: async () => JSON.stringify(status) });

const rowOf = (scope, count) => ({
  scope: { device: 'gpu0', vm: '', vm_uuid: '', context: '', generation: 1, ...scope },
  state: 'STATE_ACTIVE',
  flags: ['restarted'],
  counters: [{ event: 'sm_active_cycles', count, rate_per_second: 50 }],
  ratios: [{ name: 'sm_active', event: 'sm_active_cycles', value: 0.5, denominator_per_second: 100 }],
});

function statusOf(seconds, count) {
  const vm1 = { vm: '<b>vm1</b>', vm_uuid: 'u1' };
  return {
    version: '1',
    role: 'operator',
    identity: 'ops',
    time: seconds,
    ages: { gpu0: 0.5 },
    own_metrics: [{ name: 'sideband_audit_lost_total', labels: {}, value: 2 }],
    devices: [{ name: 'gpu0', uuid: 'd', boot_id: '5', state: 'STATE_FRESH', interval: '1s', reference_clock_hz: '100', kinds: [] }],
    scopes: [{ device: 'gpu0', vm: 'vm3', vm_uuid: 'u3', context: '', confidential: true }],
    snapshots: [
      {
        device: 'gpu0',
        boot_id: '5',
        snapshot_id: seconds,
        host_time: new Date(1000 * seconds).toISOString(),
        reference_time_ns: String(1e9 * seconds),
        scopes: [rowOf(vm1, count), rowOf({ ...vm1, context: 'train' }, '18446744073709551615')],
      },
    ],
  };
}

const kNoAnswer = 'the daemon does not answer; the data below is old';

test('the plain page has tables of every row, and says what is old', async () => {
  answers.push(answer(statusOf(1000, '7')));
  await import('./plain.js');
  await new Promise(setImmediate);
  assert.deepEqual(textsOf(place), [
    'Sideband',
    '2 audit entries were lost',
    'gpu0 fresh, 500 ms old',
    'd',
    '<b>vm1</b> restarted',
    ...['event', 'count', 'per second', 'share', 'sm_active_cycles', '7', '50', '50.0 %'],
    'train restarted',
    ...['event', 'count', 'per second', 'share', 'sm_active_cycles', '18,446,744,073,709,551,615', '50', '50.0 %'],
    'vm3 confidential: its records are sealed',
    'This build has no charts: npm was not there to make them.',
  ]);

  const before = textsOf(place);
  for (let failures = 0; failures < 2; ++failures) {
    await pollAgain(); // nothing answers
    assert.deepEqual(textsOf(place), [kNoAnswer, ...before]);
  }
  answers.push({ ok: false, status: 503 });
  await pollAgain();
  assert.deepEqual(textsOf(place), ['the daemon answers 503; the data below is old', ...before]);

  answers.push(answer(statusOf(1002, '207')));
  await pollAgain();
  assert.deepEqual(textsOf(place).slice(4, 13), [
    '<b>vm1</b> restarted',
    ...['event', 'count', 'per second', 'share', 'sm_active_cycles', '207', '100', '100.0 %'],
  ]);
});

test('the files that are joined to one script share no name', () => {
  const names = ['format', 'board', 'model', 'plain'].flatMap((name) => {
    const text = readFileSync(new URL(`${name}.js`, import.meta.url), 'utf8');
    return [...text.matchAll(/^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)/gm)].map(([, found]) => found);
  });
  assert.ok(names.includes('buildModel'));
  assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), []);
});

test('a caller who sees no device is told so', async () => {
  answers.push(answer({ ...statusOf(1004, '7'), devices: [], snapshots: [], own_metrics: [] }));
  await pollAgain();
  assert.deepEqual(textsOf(place).slice(1, 2), ['No device is visible to this identity now.']);
});
