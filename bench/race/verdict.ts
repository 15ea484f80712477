/** Whether a job costs us as much less processor time as it should, against a peer in the same rounds. */

import { median } from '../measure.ts';
import { finite, medianRatio } from './hold.ts';

export interface Verdict {
  passed: boolean;
  message: string;
}

/** `ours` and `theirs`: microseconds per job, one value a round. */
export function judge(ours: readonly number[], theirs: readonly number[], peer: string, least: number): Verdict {
  const ratio = medianRatio(theirs, ours);
  if (ratio === undefined) return { passed: false, message: 'no round in which both have a processor time' };
  const us = (values: readonly number[]) => `${median(finite(values)).toFixed(1)} µs`;
  const figures = `Workron ${us(ours)}, ${peer} ${us(theirs)} of processor time per job`;
  return {
    passed: ratio >= least,
    message: `${figures}: ${ratio.toFixed(2)}× (expected at least ${least}×)`,
  };
}
