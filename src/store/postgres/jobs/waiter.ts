/** Registers this process as a waiter for work, so that other processes announce new work. hints.ts explains why no work is missed. */

import type { Database } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';

const LASTS_MS = 15_000;
const RENEW_AFTER_MS = 10_000;

export class Waiter {
  readonly #database: Database;
  readonly #sql: Sql;
  readonly #instanceId: string;
  #registeredAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, sql: Sql, instanceId: string) {
    this.#database = database;
    this.#sql = sql;
    this.#instanceId = instanceId;
  }

  /** Returns true if it had to register (again): then look for work once more before waiting. */
  async register(signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    if (now - this.#registeredAt < RENEW_AFTER_MS) return false;
    await this.#database.query(this.#sql.registerWaiter, [this.#instanceId, LASTS_MS], signal);
    this.#registeredAt = now;
    return true;
  }

  async end(signal: AbortSignal): Promise<void> {
    if (this.#registeredAt === Number.NEGATIVE_INFINITY) return;
    await this.#database.query(this.#sql.deleteWaiter, [this.#instanceId], signal);
  }
}
