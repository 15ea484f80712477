/** Instants in the viewer's time zone. */

/** The viewer's language. A browser started under a POSIX locale reports one that is not a language tag. */
export const LANGUAGE = known(navigator.language) ? navigator.language : 'en';

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(LANGUAGE, { hour12: false, ...options });

const EXACT = format({
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});
const SECOND = format({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });
const CLOCK = format({ hour: '2-digit', minute: '2-digit' });
const DAY = format({ weekday: 'short', month: 'short', day: '2-digit', hour: '2-digit', minute: '2-digit' });
const DATE = format({ month: 'short', day: 'numeric' });
const WEEKDAY = format({ weekday: 'short', day: 'numeric' });
const MONTH = format({ month: 'long', year: 'numeric' });

export function exactInstant(at: number): string {
  return EXACT.format(at);
}

/** The time of day, to the millisecond. */
export function secondText(at: number): string {
  return SECOND.format(at);
}

export function clockText(at: number): string {
  return CLOCK.format(at);
}

/** Weekday, date and time. */
export function dayText(at: number): string {
  return DAY.format(at);
}

export function dateText(at: number): string {
  return DATE.format(at);
}

export function weekdayText(at: number): string {
  return WEEKDAY.format(at);
}

export function monthText(at: number): string {
  return MONTH.format(at);
}

function known(language: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(language).length > 0;
  } catch {
    return false;
  }
}
