// SPDX-License-Identifier: Apache-2.0
// The page of a build without npm: tables alone, drawn anew with each answer.

import { boardFacts } from './board.js';
import { durationText, exactCount, parseAnswer, percent, siNumber } from './format.js';
import { buildModel, countedInPart, daemonProblems, deviceProblems, flagTexts, rowsOf, takeMeans } from './model.js';

const kIntervalMs = 2000;
// The daemon works for the page in a tenth of the time at most.
const kRestFactor = 10;
const kTimeoutMs = 5000;

// An element of texts and elements; texts stay texts, whatever a device put into them.
function element(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

function tableOf(names, rows, className = 'number') {
  const line = (tag, texts) =>
    element('tr', '', ...texts.map((text, column) => element(tag, column > 0 ? className : '', text)));
  const body = rows.map((texts) => line('td', texts));
  return element('div', 'scroll', element('table', '', line('th', names), ...body));
}

// An estimate has a tilde.
function counterTexts({ event, count, rate, share, estimate }) {
  const mark = estimate ? '~' : '';
  return [
    event,
    mark + exactCount(count),
    rate === undefined ? '–' : mark + siNumber(rate),
    share === undefined ? '–' : mark + percent(share),
  ];
}

function rowBlock(row) {
  const flags = flagTexts(row.flags).map(({ text, bad }) => element('span', bad ? 'flag' : 'dim', text));
  const state = row.confidential ? 'confidential: its records are sealed' : row.state;
  const parts = [element('h3', '', row.name, ' ', element('span', 'dim', state), ...flags)];
  if (row.counters.length > 0) {
    parts.push(tableOf(['event', 'count', 'per second', 'share'], row.counters.map(counterTexts)));
  }
  return element('div', 'vm', ...parts);
}

function deviceOf(device) {
  const age = device.age === undefined ? ': no snapshot yet' : `, ${durationText(device.age)} old`;
  const parts = [
    element('h2', '', device.name, ' ', element('span', `badge ${device.state}`, device.state + age)),
    element('p', 'dim', device.uuid),
    ...deviceProblems(device).map((problem) => element('p', 'problem', problem)),
    ...countedInPart(device).map(({ text, events }) => element('p', 'dim', `${text}: ${events.join(', ')}`)),
  ];
  if (device.board) {
    parts.push(tableOf(['sensor', 'value'], boardFacts(device.board).map(({ name, text }) => [name, text]), 'text'));
  }
  return element('section', `device ${device.state}`, ...parts, ...rowsOf(device).map(rowBlock));
}

function pageOf(model) {
  const who = [model.role, model.identity, model.version && `sidebandd ${model.version}`].filter(Boolean).join(' · ');
  const problems = daemonProblems(model.ownMetrics ?? [], model.time);
  const header = element('header', '', element('h1', '', 'Sideband'), element('span', 'dim', who));
  const devices = model.devices.map(deviceOf);
  return [
    header,
    ...problems.map((problem) => element('p', 'problem', problem)),
    ...(devices.length > 0 ? devices : [element('p', '', 'No device is visible to this identity now.')]),
    element('footer', 'dim', 'This build has no charts: npm was not there to make them.'),
  ];
}

async function fetchStatus() {
  const response = await fetch('/page/status', { cache: 'no-store', signal: AbortSignal.timeout(kTimeoutMs) });
  if (!response.ok) throw new Error(`the daemon answers ${response.status}`);
  return parseAnswer(await response.text());
}

async function poll(before) {
  const place = document.getElementById('page');
  const start = performance.now();
  let model = before;
  try {
    model = buildModel(await fetchStatus());
    takeMeans(before, model);
    place.replaceChildren(...pageOf(model));
  } catch (error) {
    place.querySelector('.no-answer')?.remove();
    const reason = error.message.startsWith('the daemon') ? error.message : 'the daemon does not answer';
    place.prepend(element('p', 'problem no-answer', `${reason}; the data below is old`));
  }
  setTimeout(poll, Math.max(kIntervalMs, kRestFactor * (performance.now() - start)), model);
}

poll(undefined);
