/**
 * The background duties, of which each is one instance's at a time, with part two of the key of its session lock. The
 * numbers are negative, as those of workers are positive, and none is ever used again for something else.
 */
export const DUTY_NUMBERS = {
  reaper: -1,
  promoter: -2,
  grapher: -3,
  expirer: -4,
  pruner: -5,
  bulk: -6,
  'lock-watcher': -7,
  ticker: -8,
  notifier: -9,
} as const;

export type Duty = keyof typeof DUTY_NUMBERS;
