import { expect, test } from "vitest";
import { createRequestLog } from "./request-log.ts";

const request = { startTime: 0, method: "GET", path: "/", model: null, account: null };

test("the latest requests are kept, and go on being counted", () => {
  const log = createRequestLog(2);
  for (let call = 0; call < 7; call += 1) log.add(request);
  expect(log.list().map(({ number }) => number)).toEqual([6, 7]);
  log.reset();
  expect(log.add(request).number).toBe(1);
});
