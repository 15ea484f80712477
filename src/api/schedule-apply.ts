/** Declared schedules: the schedules of an owner are made equal to a list. */

import { z } from 'zod';
import { label } from './fields.ts';
import { coherent, scheduleName, scheduleSpecShape } from './schedule.ts';
import { named, strict } from './schemas.ts';

/** For more schedules, use several owners. */
const MAX_APPLIED = 10_000;

export const scheduleOwner = label(256).meta({
  description: 'The owner of these schedules: its schedules that are not in the list are removed.',
  examples: ['team-a'],
});

/** Has no owner field: the owner is that of the list. */
export const DeclaredSchedule = named(
  'DeclaredSchedule',
  coherent(strict({ name: scheduleName, ...scheduleSpecShape })),
);

export type DeclaredSchedule = z.output<typeof DeclaredSchedule>;

export const declaredSchedules = z.array(DeclaredSchedule).max(MAX_APPLIED, `at most ${MAX_APPLIED} schedules`);

export const ScheduleApply = named(
  'ScheduleApply',
  strict({
    owner: scheduleOwner,
    schedules: declaredSchedules.refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      'each name may be used once',
    ),
    dry_run: z.boolean().meta({ description: 'Report what would change, and change nothing.' }).exactOptional(),
  }),
);

const APPLY_ACTIONS = ['add', 'change', 'remove', 'keep'] as const;

export const ScheduleApplied = named(
  'ScheduleApplied',
  z.object({
    owner: z.string(),
    dry_run: z.boolean(),
    items: z
      .array(
        z.object({
          name: scheduleName,
          action: z.enum(APPLY_ACTIONS),
          fields: z
            .array(z.string())
            .meta({ description: 'For a change: the fields that differ, such as cron or job.command.' }),
        }),
      )
      .meta({ description: 'In the order of the list, then the removed schedules.' }),
  }),
);
export type ScheduleApplied = z.output<typeof ScheduleApplied>;
