// SPDX-License-Identifier: Apache-2.0
// What the page says of a board, from the daemon's answer (status_page.h). What is unknown is left out.
//   for (const fact of boardFacts(board)) show(fact.name, fact.text, fact.bad);

import { bytesText, durationText, exactCount, siNumber } from './format.js';

// Without a zero that says nothing: 61.53 -> "61.5", 90 -> "90"
function tenths(value) {
  return String(Math.round(10 * value) / 10);
}

function isKnown(value) {
  return value !== undefined;
}

// Of texts of which some are unknown; undefined without any.
function joined(texts, separator = ', ') {
  const known = texts.filter(isKnown);
  return known.length === 0 ? undefined : known.join(separator);
}

function countText(count, what) {
  return count === undefined ? undefined : `${exactCount(count)} ${what}`;
}

// "1 error", "2 errors"
function pluralText(count, thing) {
  return countText(count, count === '1' ? thing : `${thing}s`);
}

function isAbove0(count) {
  return count !== undefined && count !== '0';
}

function namedDegrees(list) {
  return list?.map(({ name, value }) => `${name} ${tenths(value)} °C`).join(', ');
}

function marginText({ margin, margin_thresholds: thresholds }) {
  return margin === undefined
    ? undefined
    : joined([`${tenths(margin)} °C`, thresholds?.map(({ name, value }) => `${name} at ${tenths(value)}`).join(', ')], '; ');
}

function wattsText({ value, limit }) {
  return `${tenths(value)}${limit === undefined ? '' : ` of ${tenths(limit)}`} W`;
}

function clockText({ clocks, performance_state: state }) {
  const texts = clocks?.map(
    ({ name, value, maximum }) =>
      `${name} ${siNumber(value)}Hz${maximum === undefined ? '' : ` of ${siNumber(maximum)}Hz`}`,
  );
  return joined([...(texts ?? []), state === undefined ? undefined : `P${state}`]);
}

function throttlingText(reasons) {
  if (reasons === undefined) return undefined;
  return reasons.length === 0 ? 'no' : reasons.join(', ');
}

function memoryText(memory) {
  if (memory?.total === undefined) return memory?.used === undefined ? undefined : `${bytesText(memory.used)} used`;
  const used = memory.used === undefined ? '' : `${bytesText(memory.used)} of `;
  return `${used}${bytesText(memory.total)}`;
}

// Reasons that call for no action: a limit that the operator has set, and boards that keep in step.
const kIntended = ['SW power cap', 'sync boost'];

function unintended(reasons) {
  return reasons?.filter((reason) => !kIntended.includes(reason)) ?? [];
}

function errorsText({ corrected, uncorrected }) {
  return joined([countText(corrected, 'corrected'), countText(uncorrected, 'uncorrected')]);
}

function eccText(ecc) {
  return ecc?.map((memory) => `${memory.name} ${errorsText(memory)}`).join('; ');
}

function remapText(rows) {
  if (rows === undefined) return undefined;
  const state = [
    rows.is_pending ? 'pending' : undefined,
    rows.has_failed ? 'failed' : undefined,
    rows.has_excess ? 'more than can be counted' : undefined,
  ];
  return joined([errorsText(rows), ...state]) ?? 'none pending';
}

function retiredText(pages) {
  if (pages === undefined) return undefined;
  const text = (count, what) => (count === undefined ? undefined : `${count} ${what}`);
  return joined([text(pages.single_bit, 'for one bit'), text(pages.double_bit, 'for two bits')]);
}

function nvlinksText(links) {
  if (links === undefined) return undefined;
  const { count, up, down = [], errors } = links;
  const state = up === undefined ? `${count}` : `${up} of ${count} up`;
  const which = down.length === 0 ? '' : ` (down: ${down.join(', ')})`;
  return joined([state + which, pluralText(errors, 'error')]);
}

function pcieText(pcie) {
  if (pcie === undefined) return undefined;
  const generation = pcie.generation === undefined ? undefined : `generation ${pcie.generation}`;
  const lanes = pcie.lanes === undefined ? undefined : pluralText(String(pcie.lanes), 'lane');
  return joined([joined([generation, lanes], ' × '), pluralText(pcie.errors, 'error'), pluralText(pcie.replays, 'replay')]);
}

// {name, text, bad} of all that is known, in the order in which it is shown. `seconds` have passed since the answer.
export function boardFacts(board, seconds = 0) {
  const { ecc, remapped_rows: rows, nvlinks, oldest } = board;
  const facts = [
    { name: 'board', text: joined([board.name, board.driver && `driver ${board.driver}`]) },
    { name: 'temperature', text: namedDegrees(board.temperatures), bad: board.is_hot },
    { name: 'thresholds', text: namedDegrees(board.thresholds) },
    { name: 'margin', text: marginText(board), bad: board.is_hot },
    { name: 'power', text: board.powers?.map((power) => `${power.name} ${wattsText(power)}`).join(', ') },
    { name: 'clocks', text: clockText(board) },
    { name: 'throttled', text: throttlingText(board.throttling), bad: unintended(board.throttling).length > 0 },
    { name: 'memory', text: memoryText(board.memory) },
    { name: 'ECC errors', text: eccText(ecc), bad: ecc?.some(({ uncorrected }) => isAbove0(uncorrected)) },
    { name: 'remapped rows', text: remapText(rows), bad: rows?.is_pending || rows?.has_failed || rows?.has_excess },
    { name: 'retired pages', text: retiredText(board.retired_pages) },
    { name: 'NVLinks', text: nvlinksText(nvlinks), bad: nvlinks?.down?.length > 0 },
    { name: 'PCIe', text: pcieText(board.pcie) },
    { name: 'oldest reading', text: oldest && `${oldest.name}, ${durationText(oldest.age + seconds)} ago` },
  ];
  return facts.filter(({ text }) => isKnown(text)).map((fact) => ({ ...fact, bad: Boolean(fact.bad) }));
}

// The problems of a board that call for action, as texts.
export function boardProblems(board) {
  const slowed = unintended(board.throttling);
  const ecc = board.ecc?.filter(({ uncorrected }) => isAbove0(uncorrected)) ?? [];
  const down = board.nvlinks?.down ?? [];
  return [
    ...(board.attention ?? []),
    board.is_hot && slowed.length === 0 && 'hot enough to be slowed down',
    slowed.length > 0 && `slowed down: ${slowed.join(', ')}`,
    ecc.length > 0 && `uncorrected ECC errors: ${ecc.map((m) => `${m.name} ${exactCount(m.uncorrected)}`).join(', ')}`,
    down.length > 0 && `NVLinks down: ${down.join(', ')}`,
  ].filter(Boolean);
}

// The few values of a board that a row of the overview has; undefined where they are not known.
export function boardSummary({ temperatures, powers, memory } = {}) {
  const [heat, power] = [temperatures?.[0], powers?.[0]];
  return [heat && `${tenths(heat.value)} °C`, power && wattsText(power), memoryText(memory)];
}

// The whole board's utilisation: {name, value}; undefined if it does not tell.
export function boardRatio(board) {
  return board?.ratios?.find(({ name }) => name === 'SM activity') ?? board?.ratios?.[0];
}

// {names, rows: [{name, values}]}: the partitions' ratios as a table, with the ratios that any of them has.
export function partitionTable(partitions) {
  const names = [...new Set(partitions.flatMap(({ ratios }) => ratios.map((ratio) => ratio.name)))];
  const rows = partitions.map(({ partition, instance, ratios }) => ({
    name: instance === undefined ? `${partition}` : `${partition}, instance ${instance}`,
    values: names.map((name) => ratios.find((ratio) => ratio.name === name)?.value),
  }));
  return { names, rows };
}

// 1700000000 -> "2023-11-14 22:13:20Z"
export function messageTime(seconds) {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
