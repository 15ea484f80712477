import type { Chunks } from './route.ts';

/** The same pieces; the seat is given back when the last one is out, or when nobody wants them any more. */
export async function* releaseAfter(seat: Disposable, chunks: Chunks): AsyncGenerator<string | Uint8Array> {
  try {
    yield* chunks;
  } finally {
    seat[Symbol.dispose]();
  }
}
