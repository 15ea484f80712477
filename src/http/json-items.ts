/** How much is turned into text before others get their turn. */
const ITEMS_PER_CHUNK = 200;

/** The items between the brackets of a JSON array, in pieces, so that a long list neither holds up others nor lies in memory twice. */
export async function* jsonChunks<T>(items: readonly T[], toWire: (item: T) => unknown): AsyncGenerator<string> {
  for (let start = 0; start < items.length; start += ITEMS_PER_CHUNK) {
    const chunk = items.slice(start, start + ITEMS_PER_CHUNK).map((item) => JSON.stringify(toWire(item)));
    yield (start === 0 ? '' : ',') + chunk.join(',');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** `{"items": […]}` in pieces. */
export async function* jsonItems<T>(items: readonly T[], toWire: (item: T) => unknown): AsyncGenerator<string> {
  yield '{"items":[';
  yield* jsonChunks(items, toWire);
  yield ']}';
}
