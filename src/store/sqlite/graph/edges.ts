/** Edges between jobs, as they are written and read. */

import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import type { EdgeRow } from './parents.ts';

/** Inserts the edges of new jobs, and marks their parents as having children. */
export function insertEdges(
  { database }: Context,
  linked: readonly { jobId: number; edges: readonly EdgeRow[] }[],
): void {
  const rows = linked.flatMap(({ jobId, edges }) => edges.map((edge) => [jobId, ...edge]));
  if (rows.length === 0) return;
  database.run(sql.insertEdges, JSON.stringify(rows));
  const open = linked.flatMap(({ edges }) =>
    edges.flatMap(([parentId, , state]) => (state === 'open' ? parentId : [])),
  );
  database.run(sql.markParents, JSON.stringify([...new Set(open)]));
}
