/** Says that workers of this process wait for work, so that others announce it. See hints.ts for why nothing is missed. */

import type { Database } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';

const LASTS_MS = 15_000;
const RENEW_AFTER_MS = 10_000;

export class Waiting {
  readonly #database: Database;
  readonly #sql: Sql;
  readonly #instanceId: string;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, sql: Sql, instanceId: string) {
    this.#database = database;
    this.#sql = sql;
    this.#instanceId = instanceId;
  }

  /** Answers with whether it had to be said (again): then look once more before you wait. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    if (now - this.#begunAt < RENEW_AFTER_MS) return false;
    await this.#database.query(this.#sql.markWaiting, [this.#instanceId, LASTS_MS], signal);
    this.#begunAt = now;
    return true;
  }

  async end(signal: AbortSignal): Promise<void> {
    if (this.#begunAt === Number.NEGATIVE_INFINITY) return;
    await this.#database.query(this.#sql.forgetWaiting, [this.#instanceId], signal);
  }
}
