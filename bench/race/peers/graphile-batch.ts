/** graphile-worker with a local queue and batched completion, its fastest form. */

import type { OpenContender } from '../contender.ts';
import { openGraphile } from './open-graphile.ts';

export const open: OpenContender = ({ url, settings }) => {
  const { localQueueSize, completeJobBatchDelay, failJobBatchDelay } = settings;
  return openGraphile(url, { localQueue: { size: localQueueSize }, completeJobBatchDelay, failJobBatchDelay });
};
