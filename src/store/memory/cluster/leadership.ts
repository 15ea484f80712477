import type { Duty } from '../../../core/duty.ts';
import type { DutyState, TermFence } from '../../../core/leadership.ts';
import type { LeadRequest, Led } from '../../cluster-store.ts';
import { leadershipLost } from '../../refusals.ts';
import type { Tables } from '../base/tables.ts';

export interface LeaderRow {
  term: number;
  instanceId: string;
  expiresAt: number;
}

export function lead(tables: Tables, { instanceId, duties: wanted, termMs }: LeadRequest): Led[] {
  const now = tables.clock.now();
  return wanted.map(({ duty, term }) => {
    const row = tables.leaders.get(duty);
    const over = row === undefined || row.expiresAt <= now;
    const leads = over || (row.instanceId === instanceId && row.term === term);
    if (leads) {
      const expiresAt = now + termMs;
      tables.leaders.set(duty, { term: (row?.term ?? 0) + (over ? 1 : 0), instanceId, expiresAt });
    }
    return { ...stateOf(tables, duty), leads, contended: false };
  });
}

export function resign(tables: Tables, instanceId: string): void {
  for (const row of tables.leaders.values()) if (row.instanceId === instanceId) row.expiresAt = tables.clock.now();
}

export function duties(tables: Tables): DutyState[] {
  return [...tables.leaders.keys()].sort().map((duty) => stateOf(tables, duty));
}

export function requireTerm(tables: Tables, { duty, term }: TermFence): void {
  if (tables.leaders.get(duty)?.term !== term) throw leadershipLost({ duty, term });
}

function stateOf(tables: Tables, duty: Duty): DutyState {
  const { term, instanceId, expiresAt } = tables.leaders.get(duty) as LeaderRow;
  return { duty, term, instanceId, expiresAt, over: expiresAt <= tables.clock.now(), locked: false, lockKey: null };
}
