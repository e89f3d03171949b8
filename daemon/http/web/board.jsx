// SPDX-License-Identifier: Apache-2.0
// A board's sensors, which operators alone see. Its texts are anybody's: they are shown as text, never as HTML.

import { boardFacts, messageTime, partitionTable } from './board.js';
import { Fact } from './fact.jsx';
import { percent } from './format.js';
import { useSecondsSince } from './poll.js';
import { Bars } from './rows.jsx';

function Messages({ messages, taken }) {
  return (
    <details class="messages" open>
      <summary>
        messages of the driver, the newest {messages.length} of {taken}
      </summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>time</th>
              <th class="number">Xid</th>
              <th>text</th>
            </tr>
          </thead>
          <tbody>
            {messages.map(({ xid, time, text }, index) => (
              <tr key={index}>
                <td class="time">{messageTime(time)}</td>
                <td class="number">{xid}</td>
                <td class="text">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Partitions({ partitions }) {
  const { names, rows } = partitionTable(partitions);
  return (
    <details class="partitions" open>
      <summary>partitions</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>partition</th>
              {names.map((name) => (
                <th class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, values }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {values.map((value, index) => (
                  <td class="number" key={names[index]}>
                    {value === undefined ? '–' : percent(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

// Of a device with counters, those say it exactly.
function Ratios({ ratios, open }) {
  return (
    <details class="total" open={open}>
      <summary>whole board</summary>
      <Bars shares={ratios} />
    </details>
  );
}

export function Board({ device, answeredMs }) {
  const seconds = useSecondsSince(answeredMs);
  const { board } = device;
  return (
    <div class="board">
      <dl class="facts">
        {boardFacts(board, seconds).map(({ name, text, bad }) => (
          <Fact key={name} name={name} bad={bad}>
            {text}
          </Fact>
        ))}
      </dl>
      {board.messages && <Messages messages={board.messages} taken={board.messages_taken} />}
      {board.ratios && <Ratios ratios={board.ratios} open={!device.row} />}
      {board.partitions && <Partitions partitions={board.partitions} />}
    </div>
  );
}
