/** The times of day given by hours, minutes and seconds together, by rank from 0. */

export interface TimesOfDay {
  /** The number of times in a day. */
  readonly size: number;
  /** The number of times before a second of the day. */
  before(second: number): number;
  /** The second of the day with this rank. */
  at(rank: number): number;
}

/** Each list must be sorted, not empty and without duplicates. */
export function timesOfDay(
  hours: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
): TimesOfDay {
  const perHour = minutes.length * seconds.length;
  return {
    size: hours.length * perHour,
    before(second) {
      const hour = place(hours, Math.floor(second / 3_600));
      if (!hour.present) return hour.index * perHour;
      const minute = place(minutes, Math.floor(second / 60) % 60);
      if (!minute.present) return hour.index * perHour + minute.index * seconds.length;
      return hour.index * perHour + minute.index * seconds.length + place(seconds, second % 60).index;
    },
    at(rank) {
      const hour = hours[Math.floor(rank / perHour)] as number;
      const minute = minutes[Math.floor((rank % perHour) / seconds.length)] as number;
      return hour * 3_600 + minute * 60 + (seconds[rank % seconds.length] as number);
    },
  };
}

/** Returns how many values are smaller, and whether the value itself is present. */
function place(values: readonly number[], value: number): { index: number; present: boolean } {
  let index = 0;
  while (index < values.length && (values[index] as number) < value) index += 1;
  return { index, present: values[index] === value };
}
