/** Documents that are small enough to be accepted, and would take minutes if reading them took time that grows faster than they do. */

import type { Attack, Target } from './attack.ts';

const times = (n: number, make: (i: number) => string, separator = '\n'): string =>
  Array.from({ length: n }, (_, i) => make(i)).join(separator);

const STEP = 'steps: {a: {command: x}}';
const FILES: Record<string, string> = {
  'unknown keys': `name: x\n${STEP}\n${times(80_000, (i) => `k${i}: 1`)}`,
  'unknown keys on one line': `{name: x, ${times(80_000, (i) => `k${i}: 1`, ', ')}}`,
  'one key again and again': `{name: x, ${times(80_000, () => 'k: 1', ', ')}}`,
  'anchors with an alias each': `a: [${times(50_000, (i) => `&a${i} x, *a${i}`, ', ')}]`,
  'aliases without an anchor': `a: [${times(100_000, (i) => `*a${i}`, ', ')}]`,
  'aliases of many empty lists': `a: &a [${'[],'.repeat(50_000)}]\nb: [${'*a,'.repeat(50_000)}]`,
  'aliases of a long text': `a: &a "${'x'.repeat(500_000)}"\nb: [${'*a,'.repeat(100)}]`,
  'lists in lists': '['.repeat(500_000),
  'default variables for many steps': `name: x\ndefaults: {env: {${times(20_000, (i) => `E${i}: x`, ', ')}}}\nsteps:\n${times(10_000, (i) => `- {key: s${i}, command: x}`)}`,
  'variables of no parameter': `name: x\nparams:\n${times(10_000, (i) => `  p${i}: {type: list}`)}\nsteps:\n${times(10_000, (i) => `- {key: s${i}, command: "$WORKRON_PARAM_U${i}", for_each: {param: u${i}}}`)}`,
};

const numbered = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`u${i}`, 1]));
const STEPS = times(5_000, (i) => `  s${i}: {command: x, for_each: {param: list}}`);
const READ = `name: read\nparams:\n  number: {type: number, default: 1}\n  list: {type: list, default: []}\nsteps:\n${STEPS}`;
/** Processor time, which does not depend on what else the machine does. */
const MAX_MS = 10_000;

/** Each is refused without much work. */
export async function documentAttacks(server: Target): Promise<Attack[]> {
  await server.call('PUT', '/definitions/read', { source: READ });
  const run = 'POST /definitions/read/run';
  const requests: [name: string, route: string, body: object][] = [
    ...Object.entries(FILES).map(([name, source]): [string, string, object] => {
      return [`a workflow file with ${name}`, 'PUT /definitions/x', { source }];
    }),
    ['a job with unknown fields', 'POST /jobs', { command: 'true', ...numbered(80_000) }],
    ['a long number as parameter', run, { params: { number: `${'1'.repeat(900_000)}x` } }],
    ['a long list for many steps', run, { params: { list: Array.from({ length: 90_000 }, () => 1) } }],
    ['unknown parameters', run, { params: numbered(50_000) }],
  ];
  return requests.map(([name, route, body]) => ({
    group: 'documents that take long to read',
    name,
    async attempt() {
      const [method = '', path = ''] = route.split(' ');
      const before = process.cpuUsage();
      const { status } = await server.call(method, path, body);
      const ms = process.cpuUsage(before).user / 1_000;
      if (status !== 400) return `answered ${status}`;
      return ms < MAX_MS ? null : `took ${Math.round(ms)} ms of processor time`;
    },
  }));
}
