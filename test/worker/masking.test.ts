/** The secrets of a job in what its worker reports, also where that is cut. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

const SECRET = 's3cr3t-Canary-0123456789-abcdef';
const secrets = { env: { PW: SECRET }, secretEnv: ['PW'] };

/** Parts of the secret that are long enough to be recognized. */
function partsIn(text: string): string[] {
  return [SECRET.slice(0, 6), SECRET.slice(-6)].filter((part) => text.includes(part));
}

test('masking: a secret is masked in what a handler throws, wherever its text is cut', async () => {
  const source = new ScriptedSource();
  const handlers = {
    // The texts are cut after 1,024 and 8,192 characters.
    error: (length: unknown) => {
      throw Object.assign(new Error(`${'x'.repeat(length as number)}${SECRET}`), { stack: undefined });
    },
    text: (length: unknown) => {
      // oxlint-disable-next-line only-throw-error
      throw `${'x'.repeat(length as number)}${SECRET}`;
    },
    object: () => {
      // oxlint-disable-next-line only-throw-error
      throw { long: `${'x'.repeat(990)}${SECRET}` };
    },
    progress: (length: unknown, context: { progress: (fraction: number, text: string) => void }) => {
      context.progress(0.5, `${'x'.repeat(length as number)}${SECRET}`);
    },
  };
  await using _ = new TestWorker(source, { handlers });
  const ids = source.submit(
    ...[1_000, 1_010, 8_170, 8_180].flatMap((input) => [
      { handler: 'error', input, ...secrets },
      { handler: 'text', input, ...secrets },
    ]),
    { handler: 'object', ...secrets },
    { handler: 'progress', input: 1_010, ...secrets },
  );
  for (const id of ids) assert.deepEqual(partsIn(JSON.stringify(await source.outcome(id))), [], `job ${id}`);
  assert.deepEqual(partsIn(JSON.stringify(source.reports)), []);
  assert.equal(source.reports.at(-1)?.progress.text, `${'x'.repeat(1_010)}***`);
});

test('masking: a secret is masked in errors that quote a file of a command', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source, {});
  const text = (length: number) => `printf '%0${length}d%s' 0 "$PW"`;
  const [output, line, after, long, progress] = source.submit(
    { command: `${text(85)} > "$WORKRON_OUTPUT"`, ...secrets },
    { command: `(echo a=b; ${text(85)}) > "$WORKRON_OUTPUT"`, ...secrets },
    { command: `${text(85)} > "$WORKRON_RETRY_AFTER"`, ...secrets },
    { command: `(printf '%s' "$PW"; ${text(1_015)}) > "$WORKRON_RETRY_AFTER"`, ...secrets },
    { command: `(printf '0.5 %s5 ' "$PW"; ${text(4_060)}; echo) > "$WORKRON_PROGRESS"`, ...secrets },
  ) as [number, number, number, number, number];
  for (const id of [output, line, after, long, progress]) {
    assert.deepEqual(partsIn(JSON.stringify(await source.outcome(id))), [], `job ${id}`);
  }
  assert.match(JSON.stringify(await source.outcome(output)), /neither key=value lines nor JSON: .*0\*\*\*/);
  assert.match(JSON.stringify(await source.outcome(long)), /at most 365d, got more/);
  assert.deepEqual(partsIn(JSON.stringify(source.reports)), []);
});
