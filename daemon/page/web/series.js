// SPDX-License-Identifier: Apache-2.0
// The shares of the past minutes, by row and name.
//   const series = new SeriesStore(300);
//   series.addModel(model);
//   const { times, values } = series.get(row.key, 'sm_active');

import { rowsOf } from './model.js';

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

  obtain(id) {
    let series = this.series.get(id);
    if (!series) this.series.set(id, (series = { times: [], values: [] }));
    return series;
  }
}

// Shares from the counts of a history (GetHistoryResponse), of devices and VMs: their capacity is that of all cycles,
// and thus the same as now. What a context could have counted depends on when it was resident, and what an event in a
// gate group could, on when its gate was open.
//   for (const { key, times, values } of sharesOfHistory(history, model, 'sm_active')) …
export function* sharesOfHistory(history, model, name) {
  for (const past of history.devices) {
    const device = model.devices.find((candidate) => candidate.name === past.device);
    for (const series of past.series) {
      const row = device && findRow(device, series);
      const share = row?.shares.find((candidate) => candidate.name === name);
      if (share?.event) yield { key: row.key, ...sharesOf(past, series, share) };
    }
  }
}

function findRow(device, series) {
  const { scope } = series;
  if (scope.context !== '' || scope.host || series.boot_id !== device.bootId) return undefined;
  const row = scope.vm === '' ? device.row : device.vms.find((vm) => vm.uuid === scope.vm_uuid);
  return row?.key.endsWith(`|${scope.generation}`) ? row : undefined;
}

// Each is the mean since the point before, as takeMeans() has it.
function sharesOf(past, series, share) {
  const column = series.columns.find((candidate) => past.events[candidate.event] === share.event);
  const times = [];
  const values = [];
  if (column?.coverage) return { times, values };
  for (let i = 1; column && i < column.counts.length; i += 1) {
    const [before, after] = [past.points[series.first_point + i - 1], past.points[series.first_point + i]];
    const seconds = Number(BigInt(after.reference_time_ns) - BigInt(before.reference_time_ns)) / 1e9;
    const counted = Number(BigInt(column.counts[i]) - BigInt(column.counts[i - 1]));
    if (seconds <= 0) continue;
    times.push(Date.parse(after.host_time) / 1000);
    values.push(Math.min(1, counted / seconds / share.capacity));
  }
  return { times, values };
}
