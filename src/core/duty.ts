/**
 * The background duties. Each is led by one instance at a time; its number is the second part of its session lock's
 * key. Duties have negative numbers and workers positive ones. A number is never reused for another duty.
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
  placer: -10,
} as const;

export type Duty = keyof typeof DUTY_NUMBERS;
