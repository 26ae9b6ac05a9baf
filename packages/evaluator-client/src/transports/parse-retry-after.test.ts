import { expect, test } from "vitest";
import { parseRetryAfterMs } from "./status-failure.ts";

const now = Date.UTC(1994, 10, 6, 8, 49, 7);

test.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "120" }, 120_000],
  [{ "retry-after-ms": "1500.5" }, 1500.5],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after-ms": "soon", "retry-after": "9" }, 9000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 30_000],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, 30_000],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994" }, 30_000],
  [{ "retry-after": "Sun, 06 Nov 1994 08:00:00 GMT" }, 0],
  [{ "retry-after": "Sun, 99 Nov 1994 08:00:00 GMT" }, null],
  [{ "retry-after": " 7 " }, 7000],
  [{ "retry-after-ms": " 1500.25 " }, 1500.25],
  [{ "retry-after-ms": "x1500" }, null],
  [{ "retry-after-ms": "1500x" }, null],
  [{ "retry-after-ms": "1." }, null],
  [{ "retry-after": "Sun Nov 16 08:49:07 1994" }, 864_000_000],
  [{ "retry-after": "x Sun, 06 Nov 1994 08:49:37 GMT" }, null],
  [{ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT+1" }, null],
  [{ "retry-after": "x Sunday, 06-Nov-94 08:49:37 GMT" }, null],
  [{ "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT+1" }, null],
  [{ "retry-after": "x Sun Nov  6 08:49:37 1994" }, null],
  [{ "retry-after": "Sun Nov  6 08:49:37 1994+1" }, null],
  [{ "retry-after": "7 s" }, null],
  [{ "retry-after": "in 7" }, null],
  [{ "retry-after": "1.5" }, 1500],
  [{ "retry-after": "0.25" }, 250],
  [{ "retry-after": ".5" }, null],
  [{ "retry-after": "1.5.5" }, null],
  [{ "retry-after": "1e3" }, null],
  [{ "retry-after": "-1" }, null],
  [{ "retry-after": "1994-11-06T08:49:37Z" }, null],
  [{ "retry-after": "" }, null],
])("reads %j as %s ms", (headers, expected) => {
  expect(parseRetryAfterMs((name) => headers[name] ?? null, now)).toBe(expected);
});
