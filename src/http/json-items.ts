import { Serialized } from './handler.ts';

/** The number of items that are serialized before other requests get their turn. */
const ITEMS_PER_CHUNK = 200;

/** Yields the items between the brackets of a JSON array, so that a long list neither blocks others nor is in memory twice. */
export async function* jsonChunks<T>(items: readonly T[], toWire: (item: T) => unknown): AsyncGenerator<string> {
  for (let start = 0; start < items.length; start += ITEMS_PER_CHUNK) {
    const chunk = items.slice(start, start + ITEMS_PER_CHUNK).map((item) => JSON.stringify(toWire(item)));
    yield (start === 0 ? '' : ',') + chunk.join(',');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** `{"items": […]}` in chunks. */
export function jsonItems<T, Wire>(items: readonly T[], toWire: (item: T) => Wire): Serialized<{ items: Wire[] }> {
  return new Serialized(itemsText(items, toWire));
}

async function* itemsText<T>(items: readonly T[], toWire: (item: T) => unknown): AsyncGenerator<string> {
  yield '{"items":[';
  yield* jsonChunks(items, toWire);
  yield ']}';
}
