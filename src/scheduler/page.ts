/** Makes a page of at most `limit` rows from up to `limit + 1` that were read; `nextBefore` is `null` on the last page. */
export function pageOf<T extends { id: number }>(
  found: readonly T[],
  limit: number,
): { items: T[]; nextBefore: number | null } {
  const items = found.slice(0, limit);
  return { items, nextBefore: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}
