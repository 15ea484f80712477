/** The databases that Workron can keep its jobs in. */

export const DRIVERS = ['memory', 'sqlite', 'postgres'] as const;
export type Driver = (typeof DRIVERS)[number];
