/** Output, results, crontabs, exports and streams that are large in one way each. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, documents, many, type Row, times } from './document.ts';

const { cleanJson, findUnclean } = await import('../../src/core/text.ts');
const { takeResult } = await import('../../src/worker/command/result-file.ts');
const { readCrontab } = await import('../../src/cli/input/crontab.ts');
const { readLines } = await import('../../src/node/export/read-lines.ts');
const { decodeRow } = await import('../../src/node/export/format.ts');
const { readEvents } = await import('../../src/api/event-stream.ts');
const { sseEvent } = await import('../../src/http/sse.ts');
const { LineTimes } = await import('../../src/api/line-times.ts');
const { TerminalText } = await import('../../src/cli/output/terminal-text.ts');
const { PrefixedLines } = await import('../../src/cli/output/terminal-text.ts');
const { oneLine } = await import('../../src/cli/output/style.ts');
const { failureLine } = await import('../../src/core/failure-line.ts');
const { FrameReader, encodeFrame } = await import('../../src/worker/launcher/frames.ts');
const { groupFailures } = await import('../../src/api/failures.ts');

async function* chunksOf<T>(chunks: readonly T[]): AsyncGenerator<T> {
  yield* chunks;
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

function resultOf(text: (n: number) => string): Row[2] {
  return (n) => {
    const content = text(n);
    return () => {
      const folder = mkdtempSync(join(tmpdir(), 'workron-growth-'));
      try {
        writeFileSync(join(folder, 'result'), content);
        return takeResult(join(folder, 'result'), null, (text) => text);
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
  };
}

const RESULTS: Row[] = [
  ['lines', 2_000, resultOf((n) => times(n, (i) => `k${i}=v`))],
  ['a key again and again', 2_000, resultOf((n) => 'k=v\n'.repeat(n))],
  ['empty lines', 20_000, resultOf((n) => '\n'.repeat(n))],
  ['carriage returns', 20_000, resultOf((n) => '\r'.repeat(n))],
  ['a long key', 20_000, resultOf((n) => 'k.'.repeat(n))],
  ['JSON', 2_000, resultOf((n) => JSON.stringify(many(n, (i) => ({ i }))))],
  ['broken JSON', 20_000, resultOf((n) => '['.repeat(n))],
];

const crontab = (text: (n: number) => string): Row[2] => {
  return (n) => {
    const given = text(n);
    return () => readCrontab(given, { timezone: 'UTC', system: false, homeOf: () => '/home/ana' });
  };
};

const CRONTABS: Row[] = [
  ['lines of one program', 1_000, crontab((n) => '0 0 * * * backup\n'.repeat(n))],
  ['settings', 1_000, crontab((n) => times(n, (i) => `A${i}=x`))],
  ['settings and lines', 1_500, crontab((n) => `${times(n, (i) => `A${i}=x`)}\n${times(n, (i) => `0 0 * * * p${i}`)}`)],
  ['percent signs', 5_000, crontab((n) => `0 0 * * * cat ${'%x'.repeat(n)}`)],
  [
    'lines that look like the end of an input',
    300,
    crontab((n) => `0 0 * * * cat %${times(n, (i) => `INPUT${'_'.repeat(i % 20)}`, '%')}`),
  ],
  ['lines that cannot be read', 2_000, crontab((n) => 'x\n'.repeat(n))],
  ['a long command', 20_000, crontab((n) => `0 0 * * * ${'-'.repeat(n)}x`)],
  ['a long list of settings before a command', 2_000, crontab((n) => `0 0 * * * ${'A=b '.repeat(n)}x`)],
];

const job = (id: number, error: string) => ({
  id,
  name: `n${id % 7}`,
  error,
  queue: `q${id % 7}`,
  createdAt: 0,
  doneAt: 0,
});

const STREAMS: Row[] = [
  ['events', 2_000, (n) => () => drain(readEvents(chunksOf(['event: a\ndata: x\n\n'.repeat(n)])))],
  [
    'an event in many pieces',
    2_000,
    (n) => () => drain(readEvents(chunksOf(['data: ', ...many(n, () => 'x'.repeat(20)), '\n\n']))),
  ],
  ['an event of many lines', 5_000, (n) => () => drain(readEvents(chunksOf([`${'data: x\r\n'.repeat(n)}\n`])))],
  ['an event that is sent', 5_000, (n) => () => sseEvent({ data: 'x\r\n'.repeat(n) })],
  ['lines of an export', 5_000, (n) => () => drain(readLines(chunksOf([Buffer.from('[1]\n'.repeat(n))])))],
  [
    'a line of an export in many pieces',
    5_000,
    (n) => () => drain(readLines(chunksOf(many(n, () => Buffer.from('x'))))),
  ],
  ['a row of an export', 5_000, (n) => () => decodeRow(many(n, () => ({ base64: 'AAAA' })))],
  ['times of lines', 5_000, (n) => () => new LineTimes().push(Buffer.from('x\n'.repeat(n)), '2026-01-01')],
  ['lines with a prefix', 5_000, (n) => () => new PrefixedLines('a ').push('x\n'.repeat(n))],
  [
    'a line with a prefix in many pieces',
    5_000,
    (n) => () =>
      pushAll(
        new PrefixedLines('a '),
        many(n, () => 'x'.repeat(20)),
      ),
  ],
  [
    'escapes for a terminal',
    5_000,
    (n) => () => pushAll(new TerminalText(), ['\u001b[1m\u001b]52;c;\u0007'.repeat(n)]),
  ],
  ['an escape that does not end', 20_000, (n) => () => pushAll(new TerminalText(), [`\u001b[${'1;'.repeat(n)}`])],
  [
    'escapes byte by byte',
    2_000,
    (n) => () =>
      pushAll(
        new TerminalText(),
        many(4 * n, (i) => '\u001b[1;'.charAt(i % 4)),
      ),
  ],
  ['control characters on one line', 20_000, (n) => () => oneLine('\u0007a'.repeat(n))],
  ['lines of an error', 5_000, (n) => () => failureLine(`exit 1\n${'a\n'.repeat(n)}`)],
  ['frames of the launcher', 2_000, (n) => () => pushFrames(many(n, () => encodeFrame(10, 1, Buffer.from('x'))))],
  [
    'a frame of the launcher in many pieces',
    2_000,
    (n) => () => pushFrames(many(n + 9, (i) => Buffer.from([i === 1 ? n >> 8 : i === 0 ? n & 255 : 0]))),
  ],
  ['failures', 1_000, (n) => () => groupFailures(many(n, (i) => job(i, `exit ${i}`)) as never, { from: 0, to: 1 })],
  [
    'ids in an error',
    5_000,
    (n) => () => groupFailures([job(1, 'deadbeef-dead-'.repeat(n))] as never, { from: 0, to: 1 }),
  ],
  ['text that cannot be stored', 5_000, (n) => () => cleanJson(many(n, () => 'a\0'))],
  ['text to search for NUL', 5_000, (n) => () => findUnclean(many(n, (i) => ({ [`k${i}`]: 'a' })))],
];

function pushAll(stream: { push: (text: string) => unknown; end: () => unknown }, chunks: readonly string[]): void {
  for (const chunk of chunks) stream.push(chunk);
  stream.end();
}

function pushFrames(chunks: readonly Buffer[]): void {
  const frames = new FrameReader(() => undefined);
  for (const chunk of chunks) frames.push(chunk);
}

export const TEXTS: Document[] = [
  ...documents('result', RESULTS),
  ...documents('crontab', CRONTABS),
  ...documents('stream', STREAMS),
];
