import { exactDuration } from './duration.ts';

interface Rate {
  limit: number;
  per: number;
  burst: number;
}

/** A rate as the command line takes it: `100/1m+20`. */
export function rateText({ limit, per, burst }: Rate): string {
  return `${limit}/${exactDuration(per)}${burst === 0 ? '' : `+${burst}`}`;
}

/** `null` for a text that is no rate. The server checks the duration. */
export function rateFrom(text: string): { limit: number; per: string; burst: number } | null {
  const [, limit, per = '', burst] = /^\s*(\d+)\s*\/\s*([^\s+]+)\s*(?:\+\s*(\d+))?\s*$/.exec(text) ?? [];
  return limit === undefined ? null : { limit: Number(limit), per, burst: Number(burst ?? 0) };
}
