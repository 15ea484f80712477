/** What comes one by one, `size` at a time; the last piece may be smaller. Nothing comes before it is asked for. */
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
