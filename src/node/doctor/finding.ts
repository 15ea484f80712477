/** What a check of the doctor has found. */
export interface Finding {
  check: string;
  /** `bad`: something does not work. `warning`: it works, but not as well as it could. */
  state: 'ok' | 'warning' | 'bad';
  detail: string;
  /** What to do about it; `null` if nothing is to be done. */
  advice: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail, advice: null };
}

export function warning(check: string, detail: string, advice: string): Finding {
  return { check, state: 'warning', detail, advice };
}

export function bad(check: string, detail: string, advice: string): Finding {
  return { check, state: 'bad', detail, advice };
}
