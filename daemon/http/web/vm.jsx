// SPDX-License-Identifier: Apache-2.0
// A VM with its contexts.

import { useState } from 'preact/hooks';
import { Chart, kLineColours } from './chart.jsx';
import { percent } from './format.js';
import { Bars, Counters, Flags } from './rows.jsx';

// `view` is {series, share, from, to}: what all charts show.
function RowChart({ row, line, view }) {
  const shown = row.shares.find((share) => share.name === view.share);
  const { times, values } = view.series.get(row.key, view.share);
  const now = shown ? percent(shown.value) : 'unknown';
  return (
    <Chart
      lines={[{ label: row.name, line, times, values }]}
      from={view.from}
      to={view.to}
      label={`${view.share} of ${row.name}: ${now}`}
    />
  );
}

// A context has its other shares in its table of counters, so that many contexts fit on a screen.
const kResident = 'resident';

function Context({ context, line, view }) {
  const shares = context.shares.filter((share) => share.name === view.share || share.name === kResident);
  return (
    <li>
      <h4>
        {context.name} <small>{context.state}</small> <Flags flags={context.flags} />
      </h4>
      <RowChart row={context} line={line} view={view} />
      <Bars shares={shares} chosen={view.share} />
      <Counters counters={context.counters} />
    </li>
  );
}

function placeOf(vm) {
  return vm.slice === undefined ? '' : `slice ${vm.slice}`;
}

const kOpenAtFirst = 4;

// Many charts that nobody sees would slow the page down: a closed list has none.
function Contexts({ contexts, line, view }) {
  const [open, setOpen] = useState(contexts.length <= kOpenAtFirst);
  if (contexts.length === 0) return null;
  return (
    <details class="contexts" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {contexts.length} {contexts.length === 1 ? 'context' : 'contexts'}
      </summary>
      {open && (
        <ul>
          {contexts.map((context) => (
            <Context key={context.key} context={context} line={line} view={view} />
          ))}
        </ul>
      )}
    </details>
  );
}

export function Vm({ vm, line, view }) {
  return (
    <article class={vm.contexts.length > 0 ? 'vm wide' : 'vm'}>
      <div class="own">
        <h3>
          <span class={`chip line-${line % kLineColours}`} aria-hidden="true" /> {vm.name}{' '}
          <small title={vm.uuid}>
            {placeOf(vm)} {vm.state}
          </small>{' '}
          <Flags flags={vm.flags} />
        </h3>
        {vm.confidential && <p class="dim">Confidential: its counters exist in sealed records only.</p>}
        {vm.counters.length > 0 && <RowChart row={vm} line={line} view={view} />}
        <Bars shares={vm.shares} chosen={view.share} />
        <Counters counters={vm.counters} />
      </div>
      <Contexts contexts={vm.contexts} line={line} view={view} />
    </article>
  );
}
