import { type InstanceRow, MISSED_BEATS, type NewInstance } from '../../../core/instance.ts';
import type { Tables } from '../base/tables.ts';

export function beatInstance(tables: Tables, instance: NewInstance): void {
  const now = tables.clock.now();
  const startedAt = tables.instances.get(instance.id)?.startedAt ?? now;
  tables.instances.set(instance.id, { ...structuredClone(instance), startedAt, seenAt: now });
}

export function instances(tables: Tables): InstanceRow[] {
  const now = tables.clock.now();
  return [...tables.instances.values()]
    .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    .map((row) => {
      const silent = now - row.seenAt > MISSED_BEATS * row.beatMs;
      return { ...structuredClone(row), state: silent ? 'offline' : 'online' };
    });
}

export function leaveInstance(tables: Tables, id: string): void {
  tables.instances.delete(id);
}

export function forgetInstances(tables: Tables, silentMs: number): number {
  const now = tables.clock.now();
  const silent = [...tables.instances.values()].filter(({ seenAt }) => now - seenAt > silentMs);
  for (const { id } of silent) tables.instances.delete(id);
  return silent.length;
}
