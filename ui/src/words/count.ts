const NUMBER = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function numberText(value: number): string {
  return NUMBER.format(value);
}

/** A short number: `1.2M`. */
export function compactText(value: number): string {
  return value < 100_000 ? NUMBER.format(value) : COMPACT.format(value);
}

/** `1 job`, `12 jobs`. */
export function countText(value: number, one: string, many = `${one}s`): string {
  return `${numberText(value)} ${value === 1 ? one : many}`;
}
