/** The address of the list of a gang's members. */
export function gangHref(id: string): string {
  return `/jobs?tag=${encodeURIComponent(`gang:${id}`)}`;
}
