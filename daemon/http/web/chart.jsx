// SPDX-License-Identifier: Apache-2.0
// Charts of shares over time, by uPlot.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { percent } from './format.js';

const kSmallHeight = 44;
const kLargeHeight = 170;

// The colours of the style sheet, which differ between light and dark.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export const kLineColours = 8;

// In the legend: the value under the pointer, else the newest.
function shownText(text) {
  return (plot, value, series, at) => {
    const shown = at == null ? plot.data[series]?.findLast((candidate) => candidate !== undefined) : value;
    return shown == null ? '–' : text(shown);
  };
}

function lineOf({ label, line }) {
  return {
    label,
    stroke: () => colour(`--line-${line % kLineColours}`),
    // After the colours come other patterns.
    dash: line < kLineColours ? undefined : [6, 3],
    width: 1.5,
    points: { show: false },
    value: shownText(percent),
  };
}

// Of the viewer's time zone, 24 hours.
function clockText(seconds) {
  return new Date(1000 * seconds).toTimeString().slice(0, 8);
}

function axes() {
  const grid = { stroke: () => colour('--rule'), width: 1 };
  const common = { stroke: () => colour('--dim'), grid, ticks: { show: false } };
  return [
    { ...common, space: 90, size: 30, values: (_, splits) => splits.map(clockText) },
    { ...common, size: 52, values: (_, splits) => splits.map((split) => `${Math.round(100 * split)} %`) },
  ];
}

function optionsOf(lines, large, width) {
  return {
    width,
    height: large ? kLargeHeight : kSmallHeight,
    series: [{ label: 'time', value: shownText(clockText) }, ...lines.map(lineOf)],
    scales: { y: { range: [0, 1] } },
    axes: large ? axes() : [{ show: false }, { show: false }],
    legend: { show: large },
    cursor: { show: large, y: false, drag: { x: false, y: false } },
    padding: large ? undefined : [2, 0, 2, 0],
  };
}

// One list of times for all lines, as uPlot wants it; undefined: no point, null: a gap.
function aligned(lines) {
  if (lines.length === 0) return [[]];
  return uPlot.join(
    lines.map((line) => [line.times, line.values]),
    lines.map(() => [2]),
  );
}

// Differs once a line has got a point, at its end or from the history at its beginning.
function pointsOf(lines) {
  return lines.map(({ times }) => `${times.length}|${times[0]}|${times.at(-1)}`).join();
}

function shapeOf(lines) {
  return lines.map((line) => `${line.label}|${line.line}`).join('\n');
}

// lines: [{label, line, times, values}], `line` is the number of the colour. `label` is the text for screen readers.
export function Chart({ lines, from, to, large, label }) {
  const box = useRef(null);
  const plot = useRef(null);
  const shape = shapeOf(lines);

  useEffect(() => {
    const made = new uPlot(optionsOf(lines, large, box.current.clientWidth), [[]], box.current);
    plot.current = made;
    const observer = new ResizeObserver(([entry]) =>
      made.setSize({ width: entry.contentRect.width, height: large ? kLargeHeight : kSmallHeight }),
    );
    observer.observe(box.current);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => made.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      observer.disconnect();
      made.destroy();
    };
  }, [shape, large]);

  useEffect(() => {
    plot.current.setData(aligned(lines), false);
    plot.current.setScale('x', { min: from, max: to });
    plot.current.setLegend({ idx: plot.current.cursor.idx ?? null });
  }, [shape, large, from, to, pointsOf(lines)]);

  return <div class={large ? 'chart large' : 'chart'} ref={box} role="img" aria-label={label} />;
}
