/** The methods of the reader's thread: reads that may take their time. */

import { withoutJobs } from '../cluster/lanes.ts';
import { duties } from '../cluster/leadership.ts';
import { outlook } from '../jobs/outlook.ts';
import type { Methods } from './protocol.ts';

export const readerMethods = {
  outlook,
  withoutJobs,
  duties,
} satisfies Methods;

export type ReaderMethods = typeof readerMethods;
