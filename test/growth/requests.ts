/** Requests that are large in one way each: bodies, queries, headers and uploads. */

import type { IncomingMessage } from 'node:http';
import { attempt, type Document, many, times } from './document.ts';

const { decode, decodeFromJobs } = await import('../../src/api/decode.ts');
const { JobsSubmission } = await import('../../src/api/job-submission.ts');
const { JobListQuery, JobFilter } = await import('../../src/api/job-filter.ts');
const { parseFilterText } = await import('../../src/api/filter-text.ts');
const { ScheduleApply } = await import('../../src/api/schedule-apply.ts');
const { SettleItem } = await import('../../src/api/settle.ts');
const { WorkflowSubmission } = await import('../../src/api/workflow/workflow.ts');
const { newStepsFrom } = await import('../../src/api/workflow/new-steps.ts');
const { newDefinitionFrom, workflowFrom } = await import('../../src/api/workflow/stored-wire.ts');
const { mapJsonArray } = await import('../../src/http/json-array.ts');
const { splitJsonObject } = await import('../../src/http/json-object.ts');
const { SESSION_HEADER } = await import('../../src/api/session.ts');
const { readJson } = await import('../../src/http/read-json.ts');
const { afterFrom, beforeFrom } = await import('../../src/http/cursor.ts');
const { TrustedProxy } = await import('../../src/http/trusted-proxy.ts');
const { sessionIn } = await import('../../src/http/session.ts');
const { wantsEvents } = await import('../../src/http/sse.ts');
const { checkTarget } = await import('../../src/http/same-site.ts');
const { matches } = await import('../../src/http/path-in.ts');
const { decodeFrames } = await import('../../src/api/output.ts');
const { parseCron } = await import('../../src/core/schedule/cron.ts');
const { parseDuration } = await import('../../src/core/duration.ts');
const { parseInstant } = await import('../../src/api/fields.ts');

type Schema = Parameters<typeof decode>[0];

const fields = (n: number, name: (i: number) => string, value: unknown): object =>
  Object.fromEntries(many(n, (i) => [name(i), value]));

const BODIES: [name: string, size: number, schema: Schema, body: (n: number) => unknown][] = [
  ['job: unknown fields', 2_000, JobsSubmission, (n) => ({ command: 'x', ...fields(n, (i) => `u${i}`, 1) })],
  ['job: fields that are almost known', 2_000, JobsSubmission, (n) => ({ ...fields(n, (i) => `comman${i}`, 1) })],
  ['job: variables', 2_000, JobsSubmission, (n) => ({ command: 'x', env: fields(n, (i) => `E${i}`, 'x') })],
  ['job: wrong variables', 2_000, JobsSubmission, (n) => ({ command: 'x', env: fields(n, (i) => `${i}=`, 1) })],
  [
    'job: secrets with unknown fields',
    1_000,
    JobsSubmission,
    (n) => ({ command: 'x', env: fields(n, (i) => `E${i}`, { secre: 'x' }) }),
  ],
  ['job: dependencies', 2_000, JobsSubmission, (n) => ({ command: 'x', depends_on: many(n, (i) => String(i + 1)) })],
  [
    'job: wrong dependencies',
    2_000,
    JobsSubmission,
    (n) => ({ command: 'x', depends_on: many(n, () => ({ jo: '1' })) }),
  ],
  ['job: tags', 2_000, JobsSubmission, (n) => ({ command: 'x', tags: many(n, (i) => `t${i}`) })],
  ['job: exit codes', 2_000, JobsSubmission, (n) => ({ command: 'x', retry_on: many(n, (i) => i % 256) })],
  [
    'job: notifications',
    1_000,
    JobsSubmission,
    (n) => ({ command: 'x', notify: many(n, () => ({ on: ['x'], u: 1 })) }),
  ],
  ['job: limits', 1_000, JobsSubmission, (n) => ({ command: 'x', limits: many(n, (i) => ({ key: `k${i}`, max: 1 })) })],
  ['job: a large input', 5_000, JobsSubmission, (n) => ({ handler: 'x', input: many(n, (i) => ({ i })) })],
  ['job: a long command', 50_000, JobsSubmission, (n) => ({ command: ' '.repeat(n) })],
  ['jobs', 500, JobsSubmission, (n) => many(n, () => ({ command: 'x' }))],
  ['jobs: all wrong', 500, JobsSubmission, (n) => many(n, (i) => ({ command: i, u: 1 }))],
  ['filter: ids', 2_000, JobFilter, (n) => ({ ids: many(n, (i) => String(i + 1)) })],
  ['query: unknown fields', 1_000, JobListQuery, (n) => fields(n, (i) => `u${i}`, '1')],
  ['query: statuses', 2_000, JobListQuery, (n) => ({ status: many(n, () => 'failed,done') })],
  ['query: tags', 2_000, JobListQuery, (n) => ({ tag: many(n, (i) => `t${i}`) })],
  ['query: ids', 2_000, JobListQuery, (n) => ({ ids: times(n, (i) => String(i + 1), ',') })],
  ['query: a long filter', 5_000, JobListQuery, (n) => ({ query: 'tag:a '.repeat(n) })],
  [
    'schedules',
    300,
    ScheduleApply,
    (n) => ({ owner: 'x', schedules: many(n, (i) => ({ name: `s${i}`, every: '1h', job: { command: 'x' } })) }),
  ],
  [
    'schedules: all wrong',
    300,
    ScheduleApply,
    (n) => ({ owner: 'x', schedules: many(n, () => ({ nam: 'x', timezone: 'Europe/Berln' })) }),
  ],
  [
    'a settlement with a large result',
    2_000,
    SettleItem,
    (n) => ({ job_id: '1', attempt: 1, outcome: { type: 'succeeded', result: many(n, (i) => ({ i })) } }),
  ],
  [
    'workflow',
    500,
    WorkflowSubmission,
    (n) => ({ name: 'x', steps: many(n, (i) => ({ key: `s${i}`, command: 'x' })) }),
  ],
  [
    'workflow: all steps wrong',
    500,
    WorkflowSubmission,
    (n) => ({ name: 'x', steps: many(n, (i) => ({ kee: `s${i}`, comand: 'x' })) }),
  ],
  [
    'workflow: parameters',
    2_000,
    WorkflowSubmission,
    (n) => ({ name: 'x', params: fields(n, (i) => `p${i}`, 1), steps: [] }),
  ],
];

interface Step {
  key: string;
  command: string;
  depends_on?: string[];
}

/** Graphs that fit the schema. */
const GRAPHS: [name: string, size: number, steps: (n: number) => Step[]][] = [
  ['in a row', 500, (n) => many(n, (i) => ({ key: `s${i}`, command: 'x', depends_on: i === 0 ? [] : [`s${i - 1}`] }))],
  ['in a circle', 500, (n) => many(n, (i) => ({ key: `s${i}`, command: 'x', depends_on: [`s${(i + 1) % n}`] }))],
  ['of one key', 500, (n) => many(n, () => ({ key: 's', command: 'x' }))],
  ['after unknown ones', 500, (n) => many(n, (i) => ({ key: `s${i}`, command: 'x', depends_on: [`u${i}`] }))],
  [
    'after parents of one variable',
    500,
    (n) => [{ key: 'a', command: 'x', depends_on: many(n, (i) => `p${'-_'.charAt(i % 2)}${i >> 1}`) }],
  ],
];

const LIMITS = { maxItems: 1_000_000, maxBytesPerItem: 64 * 1024 * 1024 };
const asArray = (text: string) => attempt(() => mapJsonArray(Buffer.from(text), LIMITS, (item) => item));
const asObject = (text: string) => splitJsonObject(Buffer.from(text));
const refusable = (read: (text: string) => unknown) => async (text: string) => {
  try {
    await read(text);
  } catch {
    // Refused, after as much work.
  }
};

const proxy = new TrustedProxy({
  peers: ['10.0.0.0/8'],
  userHeader: 'x-user',
  roles: [{ pattern: '*', role: 'viewer' }],
});
const request = (headers: Record<string, string>, rawHeaders: string[] = []): IncomingMessage =>
  ({ headers, rawHeaders, url: '/' }) as unknown as IncomingMessage;

const TEXTS: [name: string, size: number, text: (n: number) => string, read: (text: string) => unknown][] = [
  ['JSON array: items', 5_000, (n) => `[${'1,'.repeat(n)}1]`, refusable(asArray)],
  ['JSON array: spaces', 20_000, (n) => `[${' '.repeat(n)}1${' '.repeat(n)}]`, refusable(asArray)],
  ['JSON array: quotes', 20_000, (n) => `["${'\\"'.repeat(n)}"]`, refusable(asArray)],
  ['JSON array: backslashes', 20_000, (n) => `["${'\\\\'.repeat(n)}"]`, refusable(asArray)],
  ['JSON array: commas', 20_000, (n) => `[${','.repeat(n)}]`, refusable(asArray)],
  ['JSON array: brackets', 20_000, (n) => '['.repeat(n), refusable(asArray)],
  ['JSON array: a text that does not end', 20_000, (n) => `["${'x'.repeat(n)}`, refusable(asArray)],
  ['JSON object: members', 2_000, (n) => `{${times(n, (i) => `"k${i}":1`, ',')}}`, refusable(asObject)],
  [
    'JSON object: spaces',
    20_000,
    (n) => `{${' '.repeat(n)}"a"${' '.repeat(n)}:${' '.repeat(n)}1}`,
    refusable(asObject),
  ],
  ['JSON object: texts that do not end', 5_000, (n) => `{"a":${'"x'.repeat(n)}`, refusable(asObject)],
  [
    'JSON: a mistake at the end',
    20_000,
    (n) => `[${'1,'.repeat(n)}`,
    refusable((text) => readJson(Buffer.from(text), undefined)),
  ],
  [
    'content type',
    20_000,
    (n) => `application/${'a.'.repeat(n)}`,
    refusable((text) => readJson(Buffer.from('{}'), text)),
  ],
  ['cursor', 20_000, (n) => Buffer.from(`before:${'1'.repeat(n)}`).toString('base64url'), refusable(beforeFrom)],
  ['cursor of names', 20_000, (n) => Buffer.from(`after:${'a'.repeat(n)}`).toString('base64url'), refusable(afterFrom)],
  [
    'x-forwarded-for',
    5_000,
    (n) => '10.0.0.1, '.repeat(n),
    (text) => proxy.addressOf(request({ 'x-forwarded-for': text }), '10.0.0.1'),
  ],
  ['cookies', 2_000, (n) => 'a=b; '.repeat(n), (text) => sessionIn({ cookie: text, [SESSION_HEADER]: 'the-name.key' })],
  [
    'one long cookie',
    20_000,
    (n) => '='.repeat(n),
    (text) => sessionIn({ cookie: text, [SESSION_HEADER]: 'the-name.key' }),
  ],
  ['accept', 2_000, (n) => 'a/b;q=1,'.repeat(n), wantsEvents],
  ['path', 5_000, (n) => '/jobs'.repeat(n), (text) => matches('/jobs/:id', text)],
  ['filter text: words', 1_000, (n) => 'a '.repeat(n), parseFilterText],
  ['filter text: tags', 1_000, (n) => 'tag:a '.repeat(n), parseFilterText],
  ['filter text: a long word', 20_000, (n) => 'a'.repeat(n), parseFilterText],
  ['filter text: spaces', 20_000, (n) => ' '.repeat(n), parseFilterText],
  ['filter text: a quote that does not end', 20_000, (n) => `"${'\\a'.repeat(n)}`, parseFilterText],
  ['cron: values', 5_000, (n) => `${'1,'.repeat(n)}1 * * * *`, (text) => parseCron(text, 'UTC')],
  ['cron: weekdays', 5_000, (n) => `* * * * ${'MON#1,'.repeat(n)}1`, (text) => parseCron(text, 'UTC')],
  ['cron: days', 5_000, (n) => `* * ${'15W,'.repeat(n)}1 * *`, (text) => parseCron(text, 'UTC')],
  ['cron: fields', 5_000, (n) => '* '.repeat(n), refusable((text) => parseCron(text, 'UTC'))],
  ['cron: expressions', 5_000, (n) => '* * * * *;'.repeat(n), refusable((text) => parseCron(text, 'UTC'))],
  ['cron: a long item', 20_000, (n) => `* * * * ${'L'.repeat(n)}#`, refusable((text) => parseCron(text, 'UTC'))],
  ['duration', 20_000, (n) => '1m'.repeat(n), parseDuration],
  ['duration: digits', 20_000, (n) => `${'1'.repeat(n)}x`, parseDuration],
  ['instant', 20_000, (n) => `2026-01-01T00:00:00.${'0'.repeat(n)}x`, parseInstant],
];

const ONE_STEP = 'steps: {a: {command: x}}';

/** A text for a parameter of each type, which is read as that type. */
function paramOf(type: string, text: (n: number) => string): Document['make'] {
  const definition = newDefinitionFrom('x', `name: x\nparams: {p: {type: ${type}}}\n${ONE_STEP}`);
  return (n) => () => attempt(() => workflowFrom(definition, { p: text(n) }));
}

function unknownParams(n: number): () => unknown {
  const declared = times(n, (i) => `  p${i}: {default: x}`);
  const definition = newDefinitionFrom('x', `name: x\n${ONE_STEP}\nparams:\n${declared}`);
  return () => attempt(() => workflowFrom(definition, Object.fromEntries(many(n, (i) => [`u${i}`, 'x']))));
}

/** Steps that all run over one list. */
function stepsOverOneList(n: number): () => unknown {
  const steps = times(n, (i) => `  s${i}: {command: x, for_each: {param: p}}`);
  const definition = newDefinitionFrom('x', `name: x\nparams: {p: {type: list}}\nsteps:\n${steps}`);
  return () => attempt(() => workflowFrom(definition, { p: many(n, String) }));
}

export const REQUESTS: Document[] = [
  ...BODIES.map(([name, size, schema, body]): Document => {
    return { name: `body: ${name}`, size, make: (n) => reader(body(n), (value) => decode(schema, value)) };
  }),
  {
    name: 'body: text of jobs',
    size: 500,
    make: (n) =>
      reader(
        fields(n, (i) => `u${i}\0`, '\0'),
        (value) => decodeFromJobs(SettleItem, value),
      ),
  },
  ...GRAPHS.map(([name, size, steps]): Document => {
    return { name: `graph: steps ${name}`, size, make: (n) => reader(steps(n), newStepsFrom) };
  }),
  ...TEXTS.map(([name, size, text, read]): Document => ({ name, size, make: (n) => reader(text(n), read) })),
  {
    name: 'headers',
    size: 2_000,
    make: (n) =>
      reader(
        request(
          {},
          many(n, () => 'a'),
        ),
        checkTarget,
      ),
  },
  {
    name: 'headers of a proxy',
    size: 2_000,
    make: (n) =>
      reader(
        request(
          {},
          many(2 * n, () => 'x-user'),
        ),
        (value) => proxy.userOf(value, '10.0.0.1'),
      ),
  },
  { name: 'frames of output', size: 2_000, make: (n) => reader(new Uint8Array(24 * n), decodeFrames) },
  { name: 'parameters: unknown ones', size: 300, make: unknownParams },
  { name: 'parameters: a list for many steps', size: 1_500, make: stepsOverOneList },
  { name: 'parameters: a number', size: 20_000, make: paramOf('number', (n) => `${'1'.repeat(n)}x`), backtracks: true },
  { name: 'parameters: a whole number', size: 20_000, make: paramOf('integer', (n) => `${'1'.repeat(n)}x`) },
  { name: 'parameters: a list', size: 5_000, make: paramOf('list', (n) => 'a, '.repeat(n)) },
];

function reader<T>(value: T, read: (value: T) => unknown): () => unknown {
  return () => attempt(() => read(value));
}
