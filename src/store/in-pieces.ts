/** Yields the elements in arrays of `size`; the last one may be smaller. Reads no further than needed. */
export function* inPieces<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let piece: T[] = [];
  for (const one of all) {
    piece.push(one);
    if (piece.length < size) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Takes what a generator returns. Other work gets its turn wherever it yields. */
export async function inTurns<T>(work: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
