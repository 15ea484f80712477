/** The times of day that hours, minutes and seconds name together, by rank: the first is 0. */

export interface TimesOfDay {
  /** How many there are in a day. */
  readonly size: number;
  /** How many lie before a second of the day. */
  before(second: number): number;
  /** The second of the day with this rank. */
  at(rank: number): number;
}

/** Each list sorted, without doubles, not empty. */
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

/** How many values are smaller, and whether the value itself is there. */
function place(values: readonly number[], value: number): { index: number; present: boolean } {
  let index = 0;
  while (index < values.length && (values[index] as number) < value) index += 1;
  return { index, present: values[index] === value };
}
