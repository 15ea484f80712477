import type { ReactNode } from 'react';
import type { Scope } from '../../../src/api/route.ts';
import { useMay } from '../data/use-may.ts';

interface MayProps {
  /** What the action needs. */
  scope: Scope;
  /** The queue of the jobs that it starts, or their queues. */
  queue?: string | readonly string[] | undefined;
  children: ReactNode;
}

/** Shows an action to those who may do it. */
export function May({ scope, queue, children }: MayProps) {
  const queues = typeof queue === 'string' ? [queue] : (queue ?? []);
  return useMay()(scope, ...queues) ? children : null;
}
