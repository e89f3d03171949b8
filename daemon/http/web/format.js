// SPDX-License-Identifier: Apache-2.0
// Numbers as text.

const kPrefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

// 0.4137 -> "41.4 %"
export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

// The share of its time for which a number stands, rounded down: 0.9999 -> "99.9 %". "?" where it is unknown.
export function coverageText(coverage) {
  if (Number.isNaN(coverage)) return '?';
  return coverage === 1 ? '100 %' : percent(Math.floor(1000 * coverage) / 1000);
}

// 1234567 -> "1.23 M"
export function siNumber(value) {
  let scaled = value;
  let prefix = 0;
  while (Math.abs(scaled) >= 999.5 && prefix < kPrefixes.length - 1) {
    scaled /= 1000;
    prefix += 1;
  }
  const text = prefix === 0 && Number.isInteger(scaled) ? String(scaled) : Number(scaled).toPrecision(3);
  return kPrefixes[prefix] === '' ? text : `${text} ${kPrefixes[prefix]}`;
}

const kBinaryPrefixes = ['', 'Ki', 'Mi', 'Gi', 'Ti'];

// 85899345920 -> "80 GiB"
export function bytesText(bytes) {
  let scaled = bytes;
  let prefix = 0;
  while (scaled >= 1024 && prefix < kBinaryPrefixes.length - 1) {
    scaled /= 1024;
    prefix += 1;
  }
  return `${Math.round(10 * scaled) / 10} ${kBinaryPrefixes[prefix]}B`;
}

// A count as the API has it, a decimal string of up to 20 digits: "1234567" -> "1,234,567", exactly.
export function exactCount(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

// Between what numbers the truth lies, and how exact an estimate of it is.
export function boundsText({ lower, upper, deviation }) {
  const most = upper === undefined ? 'unknown' : exactCount(upper);
  const error = deviation === undefined ? 'unknown' : exactCount(deviation);
  return `an estimate: at least ${exactCount(lower)}, at most ${most}; standard error ${error}`;
}

// A duration of the API: "0.500s" -> 0.5
export function secondsOf(duration) {
  return duration === undefined ? undefined : Number.parseFloat(duration);
}

// 0.25 -> "250 ms", 90 -> "1 min 30 s"
export function durationText(seconds) {
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

// "13195503816155627317" -> "b71f4cdd9b3a1f35", as the command line prints boot ids
export function bootText(decimal) {
  return BigInt(decimal).toString(16).padStart(16, '0');
}

// Characters that order the text around them, or are not shown: `\u202e` in a VM's name would turn what
// follows it. proto/base/text.h has the same for terminals.
const kUnseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function visible(text) {
  return text.replace(kUnseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// The daemon's answer, in which all texts are visible.
export function parseAnswer(json) {
  return JSON.parse(json, (_, value) => (typeof value === 'string' ? visible(value) : value));
}
