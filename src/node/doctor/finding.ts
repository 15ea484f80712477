import type { Finding } from '../../api/doctor.ts';

export type { Finding };

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail, advice: null };
}

export function warning(check: string, detail: string, advice: string): Finding {
  return { check, state: 'warning', detail, advice };
}

export function bad(check: string, detail: string, advice: string): Finding {
  return { check, state: 'bad', detail, advice };
}
