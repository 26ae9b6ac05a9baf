const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
];
const decimal = /^\d+(\.\d+)?$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [\d ]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a response asks to wait, in milliseconds, or null when it does not say so clearly.
 * `retry-after-ms` wins over `Retry-After`, which is an HTTP date or seconds: whole ones in RFC 9110,
 * fractions such as 1.5 in the field.
 */
export function parseRetryAfterMs(
  header: (name: string) => string | null,
  epochNowMs: number,
): number | null {
  const milliseconds = header("retry-after-ms")?.trim() ?? "";
  if (decimal.test(milliseconds)) return Number(milliseconds);
  const retryAfter = header("retry-after")?.trim() ?? "";
  if (decimal.test(retryAfter)) return Number(retryAfter) * 1000;
  const dateMs = parseHttpDate(retryAfter);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - epochNowMs);
}

function parseHttpDate(text: string): number {
  if (httpDates.some((pattern) => pattern.test(text))) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
