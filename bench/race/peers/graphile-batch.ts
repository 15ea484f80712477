/** graphile-worker with a local queue and batched completion, its fastest form. */

import type { OpenContender } from '../contender.ts';
import { openGraphile } from './open-graphile.ts';

export const open: OpenContender = ({ url }) =>
  openGraphile(url, { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 });
