/** Checkpoints of handlers: JSON, or bytes as they are. */

import type { CheckpointContent } from '../../core/checkpoint.ts';

export function contentOf(value: unknown): CheckpointContent {
  const isBytes = value instanceof Uint8Array;
  const data = isBytes ? value : Buffer.from(JSON.stringify(value ?? null));
  return {
    kind: isBytes ? 'bytes' : 'json',
    bytes: data.length,
    async *chunks() {
      yield data;
    },
  };
}

export async function valueOf({ kind, chunks }: CheckpointContent): Promise<unknown> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks()) parts.push(chunk);
  const data = Buffer.concat(parts);
  return kind === 'json' ? JSON.parse(data.toString('utf8')) : new Uint8Array(data);
}
