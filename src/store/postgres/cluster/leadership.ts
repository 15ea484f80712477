/**
 * Leadership of duties. A leader has a row with a term that it renews, and holds the duty's session lock if its connection is
 * a session. An instance that gets the lock although the row says that the leader holds it knows that the leader's session
 * has ended, and takes the duty at once. A frozen leader keeps its lock and is replaced when its row has expired.
 */

import { DUTY_NUMBERS, type Duty } from '../../../core/duty.ts';
import type { DutyState, TermFence } from '../../../core/leadership.ts';
import type { Log } from '../../../ops/log.ts';
import type { LeadRequest, Led } from '../../cluster-store.ts';
import { leadershipLost } from '../../refusals.ts';
import type { Begin, Database } from '../base/database.ts';
import type { DirectSession, Lent } from '../base/direct-session.ts';
import type { Sql } from '../base/sql.ts';

/** How long a leader's write may keep others from taking the duty. */
const WRITE_TIMEOUT_MS = 5_000;

interface Row {
  duty: Duty;
  number: number;
  instance_id: string;
  term: number;
  expires_at: number;
  over: boolean;
  locked: boolean;
}

interface LookedRow extends Row {
  /** `null` if the lock was not tried. */
  got: boolean | null;
  own_session: boolean;
}

interface LeadershipOptions {
  database: Database;
  direct: Pick<DirectSession, 'use'>;
  sql: Sql;
  lockSpace: number;
  log: Log;
}

export class Leadership {
  readonly #options: LeadershipOptions;
  /** Locks that the current session holds, with the instance. */
  #locks = new Map<Duty, string>();
  /** Duties that have a row. */
  readonly #known = new Set<Duty>();
  #warned = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  lead(request: LeadRequest, signal: AbortSignal): Promise<Led[]> {
    return this.#options.direct.use((session) => this.#leadOn(session, request), signal);
  }

  async resign(instanceId: string, signal: AbortSignal): Promise<void> {
    const { database, sql } = this.#options;
    await database.query(sql.resign, [instanceId], signal);
  }

  async duties(signal: AbortSignal): Promise<DutyState[]> {
    const { database, sql } = this.#options;
    const rows = await database.query<Row>(sql.duties, [], signal);
    return rows.map((row) => this.#stateOf(row));
  }

  /** To be called when the session has ended, and all its locks with it. */
  forgetLocks(): void {
    this.#locks = new Map();
  }

  async #leadOn(session: Lent, request: LeadRequest): Promise<Led[]> {
    const { sql, lockSpace } = this.#options;
    const { instanceId, duties, termMs } = request;
    const locks = this.#locks;
    const hasLock = (duty: Duty) => locks.get(duty) === instanceId;
    const wanted = duties.map(({ duty }) => duty);
    await this.#know(session, wanted);

    const held = duties.filter(({ term }) => term !== null);
    const kept =
      held.length === 0
        ? []
        : await session.query<Row>(sql.keepDuties.text, [
            instanceId,
            held.map(({ duty }) => duty),
            held.map(({ term }) => term),
            held.map(({ duty }) => hasLock(duty)),
            termMs,
            session.mark,
          ]);
    const leads = new Map(kept.map((row) => [row.duty, row]));
    if (kept.length === duties.length && kept.every(({ locked }) => locked)) return this.#answer(duties, leads, leads);

    const values = [instanceId, wanted, [...locks.keys()], lockSpace, session.mark];
    const looked = await session.query<LookedRow>(sql.lookAtDuties.text, values);
    for (const { duty, got } of looked) if (got) locks.set(duty, instanceId);
    if (looked.some(({ own_session }) => !own_session)) this.#distrustSession();
    const free = looked.filter((row) => !leads.has(row.duty) && (row.over || (row.locked && hasLock(row.duty))));
    const taken =
      free.length === 0
        ? []
        : await session.query<Row>(sql.takeDuties.text, [
            instanceId,
            free.map(({ duty }) => duty),
            free.map(({ term }) => term),
            free.map(({ duty }) => hasLock(duty)),
            termMs,
          ]);
    for (const row of taken) leads.set(row.duty, row);
    await this.#letGo(
      session,
      looked.filter(({ duty }) => hasLock(duty) && !leads.has(duty)),
    );
    return this.#answer(duties, new Map(looked.map((row) => [row.duty, row])), leads);
  }

  async #know(session: Lent, duties: readonly Duty[]): Promise<void> {
    const fresh = duties.filter((duty) => !this.#known.has(duty));
    if (fresh.length === 0) return;
    await session.query(this.#options.sql.knowDuties.text, [fresh, fresh.map((duty) => DUTY_NUMBERS[duty])]);
    for (const duty of fresh) this.#known.add(duty);
  }

  /** Releases locks of duties that are not ours: they would block the leader's. */
  async #letGo(session: Lent, rows: readonly Row[]): Promise<void> {
    const { sql, lockSpace } = this.#options;
    if (rows.length === 0) return;
    await session.query(sql.unlockDuties.text, [lockSpace, rows.map(({ number }) => number)]);
    for (const { duty } of rows) this.#locks.delete(duty);
  }

  #answer(
    duties: LeadRequest['duties'],
    seen: ReadonlyMap<Duty, Row & Partial<LookedRow>>,
    leads: ReadonlyMap<Duty, Row>,
  ): Led[] {
    return duties.map(({ duty }) => {
      const row = (leads.get(duty) ?? seen.get(duty)) as Row;
      return { ...this.#stateOf(row), leads: leads.has(duty), contended: seen.get(duty)?.got === false };
    });
  }

  #stateOf(row: Row): DutyState {
    const { duty, number, instance_id: instanceId, term, expires_at: expiresAt, over, locked } = row;
    return { duty, term, instanceId, expiresAt, over, locked, lockKey: [this.#options.lockSpace, number] };
  }

  /** The session is shared by a pooler, so locks on it may not be ours. */
  #distrustSession(): void {
    this.#locks.clear();
    if (this.#warned) return;
    this.#warned = true;
    this.#options.log.warn(
      {},
      'a pooler shares our database session with others: no session locks, a dead leader is followed after 5 s; give --db-direct-url',
    );
  }
}

/**
 * Begins a leader's transaction. It locks the leader's row, so that no instance can take the duty before it has ended;
 * time-outs make sure that it ends. The leader's own renewals do not wait for this lock.
 */
export function beginFenced(schema: string, fence: () => TermFence): Begin {
  return async (client) => {
    const { duty, term } = fence();
    const results = (await client.query(`begin;
      set local statement_timeout = ${WRITE_TIMEOUT_MS};
      set local idle_in_transaction_session_timeout = ${WRITE_TIMEOUT_MS};
      select 1 from ${schema}.leader where duty = '${duty}' and term = ${term} for key share`)) as unknown as {
      rows: unknown[];
    }[];
    if (results.at(-1)?.rows.length !== 1) throw leadershipLost({ duty, term });
  };
}
