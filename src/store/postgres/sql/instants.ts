/** Instants in statements. */

/** The current time as `t.now`, read once at the start of the statement. */
export function nowIn(s: string): string {
  return `t as materialized (select ${s}.now() as now)`;
}

/** An instant as milliseconds since 1970, which is cheaper to send and to parse than a timestamp. */
export function epochMs(instant: string): string {
  return `round(date_part('epoch', ${instant}) * 1000)`;
}

/** An instant from milliseconds. */
export function instant(ms: string): string {
  return `to_timestamp(${ms} / 1000.0)`;
}
