/** More than a date takes; the rest of a header is not read. */
const DATE_LENGTH = 200;
/** A time of day, and the zone behind it. */
const zone =
  /(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[AP]M)?) ?(?:(?:GMT|UTC?)? ?[+-]\d\d:?(?:\d\d)?|[A-Z]{1,5})\b/;
const languages = "en de fr es pt it nl sv da nb fi pl cs hu ro tr el ru uk".split(" ");

/** Returns the day in a header, in the sender's zone; null if there is none. */
export function parseDay(text: string): string | null {
  const dateText = withUsualYear(text.slice(0, DATE_LENGTH));
  const namedMatch = /\b(\d{1,2})[ -]([A-Z][a-z]{2})[a-z]{0,6}[ -](\d{4})\b/.exec(dateText);
  const [iso] = /\b\d{4}-\d\d-\d\d(?=T|$)/.exec(dateText) ?? [];
  const day = namedMatch
    ? `${namedMatch[1]} ${namedMatch[2]} ${namedMatch[3]}`
    : (iso ?? dateText.replace(zone, "$1"));
  // In UTC, or it would be the day on this machine.
  return toDay(new Date(`${day} UTC`)) ?? otherDay(dateText);
}

/** Returns the time that a header names, in ISO 8601; in a zone that is not known its day alone counts. */
export function parseTime(text: string): string | null {
  const writtenText = withUsualYear(text.slice(0, DATE_LENGTH));
  const time = new Date(zone.test(writtenText) ? writtenText : `${writtenText} UTC`);
  if (toDay(time) !== null) return time.toISOString();
  const day = parseDay(text);
  return day === null ? null : `${day}T00:00:00.000Z`;
}

/** Returns the day of a time in UTC; null for a year that does not have four digits. */
export function toDay(time: Date): string | null {
  if (Number.isNaN(time.getTime())) return null;
  return /^\d{4}-\d\d-\d\d/.exec(time.toISOString())?.[0] ?? null;
}

// Years of two and three digits count from 1900, up to 49 from 2000 (RFC 5322, section 4.3). Between
// dots the day is first, and between slashes the month.
function withUsualYear(text: string): string {
  const short = /\b(\d{1,2}[ -][A-Z][a-z]{2}[a-z]{0,6}[ -])(\d{2,3})(?=\s)/;
  return text
    .replace(/\b(\d{1,2})([.-])(\d{1,2})\2(\d{4})\b/, "$4/$3/$1")
    .replace(short, (_, day: string, year: string) => {
      return `${day}${Number(year) + (Number(year) < 50 && year.length === 2 ? 2000 : 1900)}`;
    });
}

/** Returns the day of a date in another language, or in numbers with the day first. */
function otherDay(text: string): string | null {
  const [, first = "", month = "", year = ""] =
    /(?<![\d\p{L}])(\d{1,2})\.?[\s./-]{1,2}(?:de )?(\p{L}{3,12}|\d{1,2})\.?[\s./-]{1,2}(?:de )?(\d{4})(?!\d)/u.exec(
      text,
    ) ?? [];
  if (month === "") return null;
  const number = /\d/.test(month) ? Number(month) : monthNumber(month);
  const day = `${year}-${String(number).padStart(2, "0")}-${first.padStart(2, "0")}`;
  return toDay(new Date(day)) === day ? day : null;
}

let months: ReadonlyMap<string, number> | undefined;

function monthNumber(name: string): number | undefined {
  months ??= new Map(languages.flatMap(monthsIn).toReversed());
  return months.get(toMonthName(name));
}

// Both forms that calendars write, short and long. A formatter takes 50 kB.
function monthsIn(language: string): [string, number][] {
  return (["short", "long"] as const).flatMap((month) => {
    const form = new Intl.DateTimeFormat(language, { day: "numeric", month, timeZone: "UTC" });
    return Array.from({ length: 12 }, (_, at): [string, number] => {
      const parts = form.formatToParts(Date.UTC(2026, at, 1));
      return [toMonthName(parts.find(({ type }) => type === "month")?.value ?? ""), at + 1];
    });
  });
}

function toMonthName(name: string): string {
  return name
    .normalize("NFD")
    .replace(/[^\p{L}]/gu, "")
    .toLowerCase();
}
