/** Messages of the API as the library has them: in camelCase. docs/library-reference.md lists their fields. */

import type { Camel } from '../api/case.ts';
import type * as job from '../api/job.ts';
import type * as schedule from '../api/schedule.ts';
import type * as tick from '../api/tick.ts';
import type * as workflow from '../api/workflow/workflow.ts';

export type Job = Camel<job.Job>;
export type JobDetail = Camel<job.JobDetail>;
export type ListedJob = Camel<job.ListedJob>;
export type Attempt = Camel<job.Attempt>;
export type Schedule = Camel<schedule.Schedule>;
export type ScheduleDetail = Camel<schedule.ScheduleDetail>;
export type Tick = Camel<tick.Tick>;
export type Backfill = Camel<tick.Backfill>;
export type Workflow = Camel<workflow.Workflow>;
export type WorkflowDetail = Camel<workflow.WorkflowDetail>;
