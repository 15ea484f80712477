/** The icons of states: the same as on the command line. */

export const STATE_ICONS: Readonly<Record<string, string>> = {
  blocked: '◌',
  scheduled: '◷',
  pending: '○',
  running: '●',
  done: '✓',
  failed: '✗',
  cancelled: '⊘',
  skipped: '↷',
  // Outcomes of attempts.
  timeout: '⧖',
  lost: '⚠',
  interrupted: '⏸',
  snoozed: '◷',
  returned: '↩',
  stopped: '⏹',
  // States of workers.
  online: '●',
  ok: '✓',
  warning: '!',
  bad: '✗',
  draining: '◐',
  offline: '○',
};

/** The colour of each state; outcomes of attempts and states of workers share them. */
export const STATE_TONES: Readonly<Record<string, string>> = {
  blocked: 'grey',
  scheduled: 'cyan',
  pending: 'amber',
  running: 'blue',
  done: 'green',
  failed: 'red',
  cancelled: 'violet',
  skipped: 'grey',
  timeout: 'red',
  lost: 'red',
  interrupted: 'amber',
  snoozed: 'cyan',
  returned: 'grey',
  stopped: 'amber',
  online: 'green',
  ok: 'green',
  warning: 'amber',
  bad: 'red',
  draining: 'amber',
  offline: 'grey',
};

export const ALL_STATES = [
  'blocked',
  'scheduled',
  'pending',
  'running',
  'done',
  'failed',
  'cancelled',
  'skipped',
] as const;
const ENDED_STATES: readonly string[] = ['done', 'failed', 'cancelled', 'skipped'];

export function hasEnded(status: string): boolean {
  return ENDED_STATES.includes(status);
}

/** Workers or instances in their order, those that are gone after the others. */
export function offlineLast<T extends { state: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => Number(a.state === 'offline') - Number(b.state === 'offline'));
}

export function mayRetry(status: string): boolean {
  return status === 'failed' || status === 'cancelled' || status === 'skipped';
}
