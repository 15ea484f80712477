/** The screens of the menu, in order. */

import type { Scope } from '../../../src/api/route.ts';

export interface Place {
  path: string;
  title: string;
  icon: string;
  /** Pressed after `g`. */
  key: string;
  /** The beginning of other addresses that belong to it. */
  also?: string;
  /** What it needs beyond reading. */
  scope?: Scope;
}

export const PLACES: readonly Place[] = [
  { path: '/', title: 'Today', icon: 'overview', key: 'o' },
  { path: '/jobs', title: 'Jobs', icon: 'jobs', key: 'j' },
  { path: '/workflows', title: 'Workflows', icon: 'workflows', key: 'w', also: '/definitions/' },
  { path: '/schedules', title: 'Schedules', icon: 'schedules', key: 's' },
  { path: '/queues', title: 'Queues', icon: 'queues', key: 'q' },
  { path: '/workers', title: 'Workers', icon: 'workers', key: 'k' },
  { path: '/cluster', title: 'Cluster', icon: 'cluster', key: 'c' },
  { path: '/access', title: 'Access', icon: 'access', key: 'a', scope: 'admin' },
];
