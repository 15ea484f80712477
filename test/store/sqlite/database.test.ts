import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database } from '../../../src/store/sqlite/base/database.ts';
import { migrate } from '../../../src/store/sqlite/base/migrate.ts';

const JOIN = `select l.job_id from lane n join live l on l.status = 'pending' and l.lane = n.id
  join job j on j.id = l.job_id order by l.rank, l.due, l.job_id limit `;

test('sqlite: a statement with a bound limit is prepared once', () => {
  using database = new Database(':memory:', { readOnly: false });
  migrate(database, 0);
  const fastest = (statement: string, ...params: number[]) => {
    const times = Array.from({ length: 10 }, () => {
      const begunAt = performance.now();
      for (let index = 0; index < 200; index += 1) database.all(statement, ...params);
      return performance.now() - begunAt;
    });
    return Math.min(...times);
  };
  const [literal, bound] = [fastest(`${JOIN} 5`), fastest(`${JOIN} ?1`, 5)];
  assert.ok(bound < 4 * literal, `${bound} ms with a bound limit, ${literal} ms without`);
});
