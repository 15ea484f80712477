/** Schedules as a file declares them: what the owner has is made to be what the list says. */

import { z } from 'zod';
import { label } from './fields.ts';
import { coherent, scheduleName, scheduleSpecShape } from './schedule.ts';
import { named, strict } from './schemas.ts';

/** More schedules than this are several owners. */
export const MAX_APPLIED = 10_000;

export const scheduleOwner = label(256).meta({
  description: 'Whose schedules these are: of this owner, those that are not in the list are removed.',
  examples: ['team-a'],
});

/** Without an owner of its own: that is the list's. */
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
    dry_run: z.boolean().meta({ description: 'Tell what would change, and change nothing.' }).exactOptional(),
  }),
);

export const APPLY_ACTIONS = ['add', 'change', 'remove', 'keep'] as const;

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
          fields: z.array(z.string()).meta({ description: 'What differs, of a change: cron, job.command …' }),
        }),
      )
      .meta({ description: 'In the order of the list, then what is removed.' }),
  }),
);
export type ScheduleApplied = z.output<typeof ScheduleApplied>;
