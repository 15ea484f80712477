/** Workflow and schedule files that are large in one way each. */

import { type Document, times } from './document.ts';

const { readWorkflowFile } = await import('../../src/api/workflow/file.ts');
const { readScheduleFile } = await import('../../src/api/schedule-file.ts');

type Text = (n: number) => string;
type Row = [name: string, size: number, text: Text];

const step = 'steps: {a: {command: x}}\n';
const workflow = (rest: string): string => `name: x\n${rest}`;

/** Text that is YAML, whatever it means. */
const YAML: Row[] = [
  ['unknown keys', 2_000, (n) => workflow(`${step}${times(n, (i) => `k${i}: 1`)}`)],
  ['unknown keys on one line', 2_000, (n) => `{name: x, ${times(n, (i) => `k${i}: 1`, ', ')}}`],
  ['unknown keys that are almost known', 2_000, (n) => workflow(`${step}${times(n, (i) => `descriptio${i}: 1`)}`)],
  ['the same key again and again', 2_000, (n) => workflow(`${step}${times(n, () => 'k: 1')}`)],
  ['the same key on one line', 2_000, (n) => `{name: x, ${times(n, () => 'k: 1', ', ')}}`],
  ['lists as keys', 1_000, (n) => times(n, () => '? [a]\n: 1')],
  ['anchors', 2_000, (n) => `a: [${times(n, (i) => `&a${i} x`, ', ')}]`],
  ['anchors with an alias each', 2_000, (n) => `a: [${times(n, (i) => `&a${i} x, *a${i}`, ', ')}]`],
  ['aliases of one anchor', 2_000, (n) => `a: &a x\nb: [${times(n, () => '*a', ', ')}]`],
  ['aliases without an anchor', 2_000, (n) => `a: [${times(n, (i) => `*a${i}`, ', ')}]`],
  ['one anchor again and again', 2_000, (n) => `a: [${times(n, () => '&a x, *a', ', ')}]`],
  ['anchors in anchors', 40, (n) => `${'&a ['.repeat(n)}${']'.repeat(n)}`],
  ['aliases of aliases', 200, (n) => `a0: &a0 [x]\n${times(n, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)}`],
  ['merged maps', 1_000, (n) => `a: &a {${times(n, (i) => `k${i}: 1`, ', ')}}\n${times(50, (i) => `m${i}: {<<: *a}`)}`],
  ['lists in lists', 500, (n) => `a: ${'['.repeat(n)}${']'.repeat(n)}`],
  ['lists that do not end', 2_000, (n) => `a: ${'['.repeat(n)}`],
  ['lists by indentation', 500, (n) => `a:\n${times(n, (i) => `${' '.repeat(i)}-`)}`.slice(0, 40 * n)],
  ['quotes that do not end', 2_000, (n) => times(n, () => 'a: "x')],
  ['flow maps that do not end', 2_000, (n) => times(n, () => 'a: {')],
  ['tabs', 2_000, (n) => times(n, () => '\t- a')],
  ['unknown tags', 2_000, (n) => `a: [${times(n, () => '!foo x', ', ')}]`],
  ['documents', 1_000, (n) => times(n, () => 'a: 1', '\n---\n')],
  ['comments', 5_000, (n) => times(n, (i) => `# ${i}`)],
  ['empty lines', 20_000, (n) => '\n'.repeat(n)],
  ['spaces', 50_000, (n) => `a:${' '.repeat(n)}b`],
  ['a long key', 50_000, (n) => `${'k'.repeat(n)}: 1`],
  ['a long line of colons', 5_000, (n) => ': '.repeat(n)],
  ['a long folded text', 5_000, (n) => `a: >\n${times(n, () => '  x\n')}`],
  ['a long number', 50_000, (n) => `a: ${'9'.repeat(n)}`],
  ['escapes', 20_000, (n) => `a: "${'\\x41'.repeat(n)}"`],
  ['NULs', 20_000, (n) => `a: "${'\\0'.repeat(n)}"`],
  ['JSON', 2_000, (n) => JSON.stringify({ name: 'x', steps: {}, list: Array.from({ length: n }, (_, i) => ({ i })) })],
];

const list = (n: number, item: (i: number) => string): string => workflow(`steps:\n${times(n, (i) => `- ${item(i)}`)}`);

/** Files that fit the schema, or almost. */
const WORKFLOWS: Row[] = [
  ['steps', 500, (n) => list(n, (i) => `{key: s${i}, command: x}`)],
  ['steps by name', 500, (n) => workflow(`steps:\n${times(n, (i) => `  s${i}: {command: x}`)}`)],
  ['steps with an unknown key', 500, (n) => list(n, (i) => `{key: s${i}, command: x, u${i}: 1}`)],
  ['steps without a command', 500, (n) => list(n, (i) => `{key: s${i}}`)],
  ['steps that are numbers', 1_000, (n) => list(n, String)],
  ['steps with one key', 500, (n) => list(n, () => '{key: s, command: x}')],
  ['steps with keys of one variable', 500, (n) => list(n, (i) => `{key: s${'_-'.charAt(i % 2)}${i >> 1}, command: x}`)],
  ['steps after an unknown one', 500, (n) => list(n, (i) => `{key: s${i}, command: x, depends_on: [u${i}]}`)],
  ['steps in a row', 500, (n) => list(n, (i) => `{key: s${i}, command: x, depends_on: [s${i + 1}]}`)],
  [
    'a step after many',
    1_000,
    (n) => list(1, () => `{key: a, command: x, depends_on: [${times(n, (i) => `s${i}`, ', ')}]}`),
  ],
  [
    'a step after one many times',
    1_000,
    (n) => list(1, () => `{key: a, command: x, depends_on: [${times(n, () => 's', ', ')}]}`),
  ],
  [
    'steps that handle failures of a step after many',
    500,
    (n) =>
      `${list(n, (i) => `{key: s${i}, command: x, continue_on_failure: true}`)}\n- {key: m, command: x, depends_on: [${times(n, (i) => `s${i}`, ', ')}]}\n${times(n, (i) => `- {key: f${i}, command: x, if: failure, depends_on: [m]}`)}`,
  ],
  [
    'steps after a handler of many failures',
    500,
    (n) =>
      `${list(n, (i) => `{key: s${i}, command: x}`)}\n- {key: m, command: x, if: failure, depends_on: [${times(n, (i) => `s${i}`, ', ')}]}\n${times(n, (i) => `- {key: f${i}, command: x, depends_on: [m]}`)}`,
  ],
  ['parameters', 1_000, (n) => workflow(`${step}params:\n${times(n, (i) => `  p${i}: {}`)}`)],
  [
    'parameters of one variable',
    1_000,
    (n) => workflow(`${step}params:\n${times(n, (i) => `  p${'_-'.charAt(i % 2)}${i >> 1}: {}`)}`),
  ],
  [
    'parameters with wrong defaults',
    1_000,
    (n) => workflow(`${step}params:\n${times(n, (i) => `  p${i}: {type: integer, default: x}`)}`),
  ],
  [
    'variables of no parameter',
    1_000,
    (n) => workflow(`steps: {a: {command: "${times(n, (i) => `$WORKRON_PARAM_U${i}`, ' ')}"}}`),
  ],
  [
    'variables of many parameters',
    500,
    (n) =>
      workflow(
        `params:\n${times(n, (i) => `  p${i}: {}`)}\nsteps: {a: {command: "${times(n, (i) => `$WORKRON_PARAM_P${i} $WORKRON_PARAM_U${i}`, ' ')}"}}`,
      ),
  ],
  [
    'variables of many steps',
    500,
    (n) => list(n, (i) => `{key: s${i}, command: "$WORKRON_PARENT_U${i}_X $WORKRON_PARENT_S${i}_X"}`),
  ],
  [
    'variables of many parents',
    500,
    (n) =>
      `${list(n, (i) => `{key: s${i}, command: x}`)}\n- {key: a, command: "${times(n, (i) => `$WORKRON_PARENT_S${n - 1 - i}_X`, ' ')}", depends_on: [${times(n, (i) => `s${i}`, ', ')}]}`,
  ],
  [
    'lists of unknown parameters',
    500,
    (n) =>
      `${list(n, (i) => `{key: s${i}, command: x, for_each: {param: u${i}}}`)}\nparams:\n${times(n, (i) => `  p${i}: {type: list}`)}`,
  ],
  ['variables in env', 1_000, (n) => workflow(`steps: {a: {command: x, env: {${times(n, (i) => `E${i}: x`, ', ')}}}}`)],
  [
    'reserved variables in env',
    1_000,
    (n) => workflow(`steps: {a: {command: x, env: {${times(n, (i) => `WORKRON_${i}: x`, ', ')}}}}`),
  ],
  ['numbers in env', 1_000, (n) => workflow(`steps: {a: {command: x, env: {${times(n, (i) => `E${i}: 1`, ', ')}}}}`)],
  // Below this size all are copied, which is allowed.
  [
    'default variables and steps',
    3_000,
    (n) => `${list(n, (i) => `{key: s${i}, command: x}`)}\ndefaults: {env: {${times(n, (i) => `E${i}: x`, ', ')}}}`,
  ],
  [
    'default tags and steps',
    300,
    (n) => `${list(n, (i) => `{key: s${i}, command: x}`)}\ndefaults: {tags: [${times(n, (i) => `t${i}`, ', ')}]}`,
  ],
  ['a long command', 20_000, (n) => workflow(`steps: {a: {command: "${'WORKRON_PARAM_'.repeat(n)}"}}`)],
];

const SCHEDULES: Row[] = [
  ['schedules', 300, (n) => `schedules:\n${times(n, (i) => `- {name: s${i}, cron: "0 0 * * *", job: {command: x}}`)}`],
  [
    'schedules with an unknown key',
    300,
    (n) => `schedules:\n${times(n, (i) => `- {name: s${i}, u: 1, every: 1h, job: {command: x}}`)}`,
  ],
  ['schedules with an unknown key each', 300, (n) => `schedules:\n- {name: a, ${times(n, (i) => `u${i}: 1`, ', ')}}`],
  [
    'schedules with a wrong cron',
    300,
    (n) => `schedules:\n${times(n, (i) => `- {name: s${i}, cron: "x", job: {command: x}}`)}`,
  ],
  ['schedules with one name', 300, (n) => `schedules:\n${times(n, () => '- {name: s, every: 1h, job: {command: x}}')}`],
  ['expressions without quotes', 500, (n) => `schedules:\n${times(n, (i) => `- name: s${i}\n  cron: */5 * * * *`)}`],
  ['an expression without quotes and a long line', 5_000, (n) => `schedules:\n- cron: */5${' x'.repeat(n)} #`],
  [
    'an expression without quotes and many spaces',
    2_000,
    (n) => `schedules:\n- cron: *${' '.repeat(n)}x\n- cron: *${' '.repeat(n)}x #`,
  ],
];

export const WORKFLOW_FILES: Document[] = [
  ...[...YAML, ...WORKFLOWS].map(
    ([name, size, text]): Document => ({ name: `workflow file: ${name}`, size, make: reader(text, readWorkflowFile) }),
  ),
  ...[...YAML, ...SCHEDULES].map(
    ([name, size, text]): Document => ({
      name: `schedule file: ${name}`,
      size,
      make: reader(text, (given) => readScheduleFile(given, 0)),
    }),
  ),
];

function reader(text: Text, read: (text: string) => unknown): Document['make'] {
  return (size) => {
    const given = text(size);
    return () => read(given);
  };
}
