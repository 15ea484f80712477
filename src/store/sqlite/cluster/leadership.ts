import { DUTY_NUMBERS, type Duty } from '../../../core/duty.ts';
import type { DutyState, TermFence } from '../../../core/leadership.ts';
import type { LeadRequest, Led } from '../../cluster-store.ts';
import { leadershipLost } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface LeaderRow {
  duty: Duty;
  instance_id: string;
  term: number;
  expires_at: number;
}

export function lead(context: Context, { instanceId, duties: wanted, termMs }: LeadRequest): Led[] {
  const { database, now } = context;
  return wanted.map(({ duty, term }) => {
    const expiresAt = now + termMs;
    const kept = term !== null && database.run(sql.keepDuties, duty, instanceId, term, expiresAt, now) > 0;
    const leads = kept || database.run(sql.takeDuties, duty, DUTY_NUMBERS[duty], instanceId, expiresAt, now) > 0;
    const row = database.get<LeaderRow>(sql.duty, duty) as LeaderRow;
    return { ...stateOf(row, now), leads, contended: false };
  });
}

export function resign({ database, now }: Context, instanceId: string): void {
  database.run(sql.resign, instanceId, now);
}

export function duties({ database, now }: Context): DutyState[] {
  return database.all<LeaderRow>(sql.duties).map((row) => stateOf(row, now));
}

export function requireTerm({ database }: Context, { duty, term }: TermFence): void {
  if (database.get<LeaderRow>(sql.duty, duty)?.term !== term) throw leadershipLost({ duty, term });
}

function stateOf({ duty, instance_id, term, expires_at }: LeaderRow, now: number): DutyState {
  const over = expires_at <= now;
  return { duty, term, instanceId: instance_id, expiresAt: expires_at, over, locked: false, lockKey: null };
}
