/** Output and results with secrets that are large in one way each. */

import type { ClaimedJob } from '../../src/core/job.ts';
import { type Document, documents, many, type Row, times } from './document.ts';

const { MaskStream, maskJson } = await import('../../src/core/mask.ts');
const { maskOutcome } = await import('../../src/worker/report/mask-job.ts');

function masking(values: readonly string[], chunks: readonly string[]): () => unknown {
  const bytes = chunks.map((chunk) => Buffer.from(chunk));
  return () => {
    const stream = new MaskStream(values);
    for (const chunk of bytes) stream.push(chunk);
    stream.end();
  };
}

const LONG = `${'a'.repeat(4_000)}b`;

const MASKED: Row[] = [
  ['output without secrets', 50_000, (n) => masking(['password'], ['x'.repeat(n)])],
  ['a secret again and again', 5_000, (n) => masking(['password', 'another!'], ['password'.repeat(n)])],
  ['beginnings of a secret', 5_000, (n) => masking(['password', 'another!'], ['passwor'.repeat(n)])],
  ['a long secret that almost occurs', 20_000, (n) => masking([LONG], ['a'.repeat(n)])],
  ['a short and a long secret', 20_000, (n) => masking(['aaaaaaaa', LONG], ['a'.repeat(n)])],
  [
    'output byte by byte',
    5_000,
    (n) =>
      masking(
        [LONG],
        many(n, () => 'a'),
      ),
  ],
  [
    'secrets and output',
    1_000,
    (n) =>
      masking(
        many(n, (i) => `secret-${i}-`),
        [times(n, (i) => `secret-${i}-`)],
      ),
  ],
  [
    'secrets that begin alike',
    20_000,
    (n) =>
      masking(
        many(50, (i) => 'a'.repeat(8 + i)),
        ['a'.repeat(n)],
      ),
  ],
  ['texts of a result', 2_000, (n) => () => maskJson({ list: many(n, () => 'my password') }, ['password'])],
  [
    'an error',
    5_000,
    (n) => {
      const job = { env: { A: 'password' }, secretEnv: ['A'] } as unknown as ClaimedJob;
      const error = 'password '.repeat(n);
      return () => maskOutcome(job, { type: 'failed', exitCode: 1, signal: null, error });
    },
  ],
];

export const MASKING: Document[] = documents('masking', MASKED);
