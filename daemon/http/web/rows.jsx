// SPDX-License-Identifier: Apache-2.0
// What VMs and contexts have in common: shares as bars, flags, counters.

import { useState } from 'preact/hooks';
import { boundsText, coverageText, exactCount, percent, siNumber } from './format.js';
import { flagTexts } from './model.js';

export function Flags({ flags }) {
  return flagTexts(flags).map(({ text, bad }) => (
    <span class={bad ? 'flag' : 'dim'} key={text}>
      {text}
    </span>
  ));
}

export function Bar({ name, value, chosen }) {
  return (
    <div class={chosen ? 'bar chosen' : 'bar'}>
      <span class="name">{name}</span>
      <span
        class="track"
        role="meter"
        aria-label={name}
        aria-valuemin="0"
        aria-valuemax="100"
        aria-valuenow={Math.round(100 * value)}
      >
        <span class="fill" style={{ width: `${100 * value}%` }} />
      </span>
      <span class="value">{percent(value)}</span>
    </div>
  );
}

const kBarsAtFirst = 20;

// `chosen` is the name of the share that the charts show. Of many, the others are folded.
export function Bars({ shares, chosen }) {
  const isFolded = ({ name }, index) => index >= kBarsAtFirst && name !== chosen;
  const bar = ({ name, value }) => <Bar key={name} name={name} value={value} chosen={name === chosen} />;
  const folded = shares.filter(isFolded);
  return (
    <>
      {shares.filter((share, index) => !isFolded(share, index)).map(bar)}
      {folded.length > 0 && (
        <details class="more">
          <summary>{folded.length} more shares</summary>
          {folded.map(bar)}
        </details>
      )}
    </>
  );
}

// A number of an event that takes turns is an estimate.
function Figure({ counter, text, title }) {
  return (
    <td class="number" title={title}>
      {counter.estimate && text !== '–' ? `~${text}` : text}
    </td>
  );
}

function CounterTable({ counters }) {
  const hasGates = counters.some((counter) => counter.coverage !== undefined);
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>event</th>
            <th class="number">count</th>
            <th class="number">per second</th>
            <th class="number">share</th>
            {hasGates && <th class="number">counted</th>}
          </tr>
        </thead>
        <tbody>
          {counters.map((counter) => (
            <tr key={counter.event}>
              <td>{counter.event}</td>
              <Figure
                counter={counter}
                text={exactCount(counter.count)}
                title={counter.estimate && boundsText(counter.estimate)}
              />
              <Figure counter={counter} text={counter.rate === undefined ? '–' : siNumber(counter.rate)} />
              <Figure counter={counter} text={counter.share === undefined ? '–' : percent(counter.share)} />
              {hasGates && (
                <td class="number">{counter.coverage === undefined ? '–' : coverageText(counter.coverage)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// The table is built only while it is open.
export function Counters({ counters }) {
  const [open, setOpen] = useState(false);
  if (counters.length === 0) return null;
  return (
    <details class="counters" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{counters.length} counters</summary>
      {open && <CounterTable counters={counters} />}
    </details>
  );
}
