const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes as people read it: `512 bytes`, `1.5 KiB`, `64 MiB`. */
export function byteText(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let [value, unit] = [bytes / 1024, 0];
  for (; value >= 1024 && unit < UNITS.length - 1; unit += 1) value /= 1024;
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ${UNITS[unit]}`;
}
