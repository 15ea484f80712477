/** A stable position within a window, so that schedules due at the same time spread out. */

/** Returns milliseconds in [0, `windowMs`): always the same for one schedule and key, evenly distributed over many. */
export function jitterMs(schedule: string, key: string, windowMs: number): number {
  return Math.floor((hash(`${schedule}\0${key}`) / 2 ** 32) * windowMs);
}

/**
 * FNV-1a over UTF-16 units, then the finalizer of MurmurHash3, because similar names differ only in their last units.
 */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
