export interface All<T> {
  items: T[];
  /** True if there are more than these. */
  more: boolean;
}

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export const PAGE = 200;
const MAX_PAGES = 10;

/** All items of a list of names, up to the first 2,000. */
export async function allPages<T>(fetch: (from: { cursor?: string }) => Promise<Page<T>>): Promise<All<T>> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: some, next_cursor }: Page<T> = await fetch(cursor === null ? {} : { cursor });
    items.push(...some);
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return { items, more: cursor !== null };
}
