// SPDX-License-Identifier: Apache-2.0
// A name with what is known of it, in a list of such.

export function Fact({ name, bad, children }) {
  return (
    <div class={bad ? 'fact bad' : 'fact'}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
