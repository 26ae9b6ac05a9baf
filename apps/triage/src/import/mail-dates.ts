/** More than a date takes; the rest of a header is not read. */
const DATE_LENGTH = 200;
/** A time of day, and the zone behind it. */
const zonePattern =
  /(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[AP]M)?) ?(?:(?:GMT|UTC?)? ?[+-]\d\d:?(?:\d\d)?|[A-Z]{1,5})\b/;
const languages = "en de fr es pt it nl sv da nb fi pl cs hu ro tr el ru uk".split(" ");

/** Returns the day in a header, in the sender's zone; null if there is none. */
export function parseDay(dateHeader: string): string | null {
  const dateText = withUsualYear(dateHeader.slice(0, DATE_LENGTH));
  const namedMatch = /\b(\d{1,2})[ -]([A-Z][a-z]{2})[a-z]{0,6}[ -](\d{4})\b/.exec(dateText);
  const [isoDate] = /\b\d{4}-\d\d-\d\d(?=T|$)/.exec(dateText) ?? [];
  const dayText = namedMatch
    ? `${namedMatch[1]} ${namedMatch[2]} ${namedMatch[3]}`
    : (isoDate ?? dateText.replace(zonePattern, "$1"));
  // In UTC, or it would be the day on this machine.
  return toIsoDay(new Date(`${dayText} UTC`)) ?? otherDay(dateText);
}

/** Returns the time that a header names, in ISO 8601; in a zone that is not known its day alone counts. */
export function parseTime(dateHeader: string): string | null {
  const writtenText = withUsualYear(dateHeader.slice(0, DATE_LENGTH));
  const writtenTime = new Date(zonePattern.test(writtenText) ? writtenText : `${writtenText} UTC`);
  if (toIsoDay(writtenTime) !== null) return writtenTime.toISOString();
  const dayText = parseDay(dateHeader);
  return dayText === null ? null : `${dayText}T00:00:00.000Z`;
}

/** Returns the day of a time in UTC; null for a year that does not have four digits. */
export function toIsoDay(instant: Date): string | null {
  if (Number.isNaN(instant.getTime())) return null;
  return /^\d{4}-\d\d-\d\d/.exec(instant.toISOString())?.[0] ?? null;
}

// Years of two and three digits count from 1900, up to 49 from 2000 (RFC 5322, section 4.3). Between
// dots the day is first, and between slashes the month.
function withUsualYear(dateText: string): string {
  const shortYear = /\b(\d{1,2}[ -][A-Z][a-z]{2}[a-z]{0,6}[ -])(\d{2,3})(?=\s)/;
  return dateText
    .replace(/\b(\d{1,2})([.-])(\d{1,2})\2(\d{4})\b/, "$4/$3/$1")
    .replace(shortYear, (_, dayAndMonth: string, yearText: string) => {
      return `${dayAndMonth}${Number(yearText) + (Number(yearText) < 50 && yearText.length === 2 ? 2000 : 1900)}`;
    });
}

/** Returns the day of a date in another language, or in numbers with the day first. */
function otherDay(dateText: string): string | null {
  const [, dayText = "", monthText = "", yearText = ""] =
    /(?<![\d\p{L}])(\d{1,2})\.?[\s./-]{1,2}(?:de )?(\p{L}{3,12}|\d{1,2})\.?[\s./-]{1,2}(?:de )?(\d{4})(?!\d)/u.exec(
      dateText,
    ) ?? [];
  if (monthText === "") return null;
  const monthOrdinal = /\d/.test(monthText) ? Number(monthText) : monthNumber(monthText);
  const isoDay = `${yearText}-${String(monthOrdinal).padStart(2, "0")}-${dayText.padStart(2, "0")}`;
  return toIsoDay(new Date(isoDay)) === isoDay ? isoDay : null;
}

let monthNumbers: ReadonlyMap<string, number> | undefined;

function monthNumber(monthName: string): number | undefined {
  monthNumbers ??= new Map(languages.flatMap(monthsIn).toReversed());
  return monthNumbers.get(toMonthName(monthName));
}

// Both forms that calendars write, short and long. A formatter takes 50 kB.
function monthsIn(language: string): [string, number][] {
  return (["short", "long"] as const).flatMap((monthStyle) => {
    const dateFormat = new Intl.DateTimeFormat(language, {
      day: "numeric",
      month: monthStyle,
      timeZone: "UTC",
    });
    return Array.from({ length: 12 }, (_, monthIndex): [string, number] => {
      const dateParts = dateFormat.formatToParts(Date.UTC(2026, monthIndex, 1));
      return [
        toMonthName(dateParts.find(({ type }) => type === "month")?.value ?? ""),
        monthIndex + 1,
      ];
    });
  });
}

function toMonthName(writtenName: string): string {
  return writtenName
    .normalize("NFD")
    .replace(/[^\p{L}]/gu, "")
    .toLowerCase();
}
