// SPDX-License-Identifier: Apache-2.0
// The shares of the past minutes, by row and name.
//   const series = new SeriesStore(300);
//   series.addModel(model);
//   const { times, values } = series.get(row.key, 'sm_active');

import { capacityOf, keyOf, kResidentEvent, rowsOf } from './model.js';

// An answer may be late, and a device's snapshot old, before the line has a gap.
const kGapFactor = 3;

// After a step back of the host's clock, what was drawn ahead is out of place.
function dropAfter(series, time) {
  while (series.times.at(-1) > time) {
    series.times.pop();
    series.values.pop();
  }
}

export class SeriesStore {
  // Values older than `windowSeconds` are dropped.
  constructor(windowSeconds) {
    this.window = windowSeconds;
    this.series = new Map();
  }

  get(key, name) {
    return this.series.get(`${key}|${name}`) ?? { times: [], values: [] };
  }

  // The oldest time of any series of the device; undefined without any.
  oldest(device) {
    let oldest;
    for (const [id, { times }] of this.series) {
      if (id.startsWith(`${device}|`) && !(times[0] >= oldest)) oldest = times[0];
    }
    return oldest;
  }

  // The values of one answer, of which `distance` seconds were to pass since the one before. A row without a value has
  // a gap there, and so has one after a longer time: a chart must not connect what it does not know.
  addModel(model, distance = 0) {
    this.keepDevices(model.devices);
    for (const device of model.devices) {
      if (device.time === undefined) continue;
      const time = device.time;
      const longest = kGapFactor * Math.max(distance, device.interval);
      for (const row of rowsOf(device)) {
        for (const share of row.shares) this.add(row.key, share.name, time, share.value, longest);
      }
      if (device.state !== 'fresh') this.addGaps(device.name, time + device.age);
      this.prune(device.name, time + device.age);
    }
  }

  // Values before all others of the series. Both lists are in order.
  prepend(key, name, times, values) {
    const series = this.obtain(`${key}|${name}`);
    const first = series.times[0] ?? Number.POSITIVE_INFINITY;
    const count = times.filter((time) => time < first).length;
    series.times.unshift(...times.slice(0, count));
    series.values.unshift(...values.slice(0, count));
  }

  add(key, name, time, value, longest = Number.POSITIVE_INFINITY) {
    const series = this.obtain(`${key}|${name}`);
    dropAfter(series, time);
    const last = series.times.at(-1);
    if (last === time) return;
    if (time - last > longest && series.values.at(-1) !== null) {
      series.times.push((last + time) / 2);
      series.values.push(null);
    }
    series.times.push(time);
    series.values.push(value);
  }

  addGaps(device, time) {
    for (const [id, series] of this.series) {
      if (!id.startsWith(`${device}|`) || series.values.at(-1) === null || series.times.at(-1) >= time) continue;
      series.times.push(time);
      series.values.push(null);
    }
  }

  prune(device, now) {
    for (const [id, series] of this.series) {
      if (!id.startsWith(`${device}|`)) continue;
      const old = series.times.findIndex((time) => time >= now - this.window);
      if (old === -1) this.series.delete(id);
      else if (old > 0) {
        series.times.splice(0, old);
        series.values.splice(0, old);
      }
    }
  }

  // Drops what belongs to a device that the daemon no longer has.
  keepDevices(devices) {
    for (const id of this.series.keys()) {
      if (!devices.some(({ name }) => id.startsWith(`${name}|`))) this.series.delete(id);
    }
  }

  obtain(id) {
    let series = this.series.get(id);
    if (!series) this.series.set(id, (series = { times: [], values: [] }));
    return series;
  }
}

// Shares from the counts of a history (GetHistoryResponse) that has the share's event and, for rows that take turns and
// for gate groups, the resident cycles. `done` are the keys of rows that are left out.
//   for (const { key, times, values } of sharesOfHistory(history, model, 'sm_active')) …
export function* sharesOfHistory(history, model, name, done = new Set()) {
  for (const past of history.devices) {
    const device = model.devices.find((candidate) => candidate.name === past.device);
    const rows = new Map(device && rowsOf(device).map((row) => [row.key, row]));
    for (const series of past.series) {
      const row = rows.get(keyOf(series.scope, series.boot_id));
      const share = row?.shares.find((candidate) => candidate.name === name);
      if (share?.event && !done.has(row.key)) yield { key: row.key, ...sharesOf(past, series, share, row, device) };
    }
  }
}

// An estimate in a gate group has the capacity of some cycles, and the history does not tell of which.
function mayBeGated(perCycle) {
  return Math.abs(perCycle - Math.round(perCycle)) > 1e-6 * perCycle;
}

// A function for the most that the event could count in `seconds` with so many resident cycles, in the part `covered` of
// which it was counted. NaN where it is not known.
function capacityOfPast(share, row, device) {
  const { perSecond, perResidentCycle, perCountedCycle } = capacityOf(share, row);
  if (perCountedCycle) return (_, cycles, covered) => perCountedCycle * cycles * covered;
  const isEstimate = row.counters.some((counter) => counter.event === share.event && counter.estimate);
  if (isEstimate && mayBeGated(perResidentCycle ?? perSecond / device.clockHertz)) return () => Number.NaN;
  const capacity = perSecond ? (seconds) => perSecond * seconds : (_, cycles) => perResidentCycle * cycles;
  // Its coverage tells only whether there is a number.
  return (seconds, cycles, covered) => (isEstimate && covered === 0 ? Number.NaN : capacity(seconds, cycles));
}

function difference(numbers, i) {
  return Number(BigInt(numbers[i]) - BigInt(numbers[i - 1]));
}

// Each is the mean since the point before, as takeMeans() has it; null where the row did not run, or it is not known.
function sharesOf(past, series, share, row, device) {
  const columnOf = (event) => series.columns.find((column) => past.events[column.event] === event);
  const [column, resident] = [columnOf(share.event), columnOf(kResidentEvent)];
  const capacityIn = capacityOfPast(share, row, device);
  const times = [];
  const values = [];
  for (let i = 1; column && i < column.counts.length; i += 1) {
    const [before, after] = [past.points[series.first_point + i - 1], past.points[series.first_point + i]];
    const seconds = difference([before.reference_time_ns, after.reference_time_ns], 1) / 1e9;
    if (seconds <= 0) continue;
    const cycles = resident ? difference(resident.counts, i) : Number.NaN;
    const capacity = capacityIn(seconds, cycles, Number(column.coverage?.of_intervals[i] ?? 1));
    times.push(Date.parse(after.host_time) / 1000);
    values.push(capacity > 0 ? Math.min(1, difference(column.counts, i) / capacity) : null);
  }
  return { times, values };
}
