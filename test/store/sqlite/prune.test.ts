import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { engine } from '../../../src/store/engine/engine.ts';
import { renderSqlite } from '../../../src/store/sql/sql.ts';
import { statementOf, statementsOf, sweepOf } from '../../kit/engine-statement.ts';
import { openTestSqlite } from '../../kit/sqlite.ts';

/** What the writer deletes once a minute, while claims wait for it, and the workflows that the reader finds for it. */
const SWEEPS = ['unique_key', 'idempotency', 'stat', 'alarm'] as const;

test('sqlite prune: rows that are kept are not read', async () => {
  await using given = await openTestSqlite();
  using database = new DatabaseSync(given.store.location);
  const retention = { doneMs: 1, otherMs: 1, statsMs: 1 };
  const texts = new Map<string, string>();
  for (const what of SWEEPS) texts.set(what, renderSqlite(await sweepOf(what, retention, 1), 0).text);
  for (const name of ['pruneAudit', 'pruneTicks'] as const) {
    const statement = await statementOf((tx) => engine[name].run(tx, 1, 1));
    texts.set(name, renderSqlite(statement, 0).text);
  }
  const finds = (await statementsOf((tx) => engine.prune.run(tx, retention, 1))).map((found) => renderSqlite(found, 0));
  texts.set('oldWorkflows', finds.find(({ text }) => /from workflow w/.test(text))?.text ?? assert.fail());
  for (const [name, text] of texts) {
    const plan = database.prepare(`explain query plan ${text}`).all() as { detail: string }[];
    const steps = plan.map(({ detail }) => detail);
    assert.ok(
      steps.some((step) => /^SEARCH .*[<>]/.test(step)),
      `${name} does not begin at the oldest: ${steps.join(', ')}`,
    );
    assert.deepEqual(
      steps.filter((step) => /^SCAN (?!json_each)|TEMP B-TREE/.test(step)),
      [],
      name,
    );
  }
});
