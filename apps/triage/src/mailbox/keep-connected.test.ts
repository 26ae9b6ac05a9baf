import { expect, test } from "vitest";
import { LostConnection } from "./connect.ts";
import { retryDelayMs } from "./keep-connected.ts";

const busy = (fields: object) =>
  Object.assign(new Error("Command failed"), { responseStatus: "NO", ...fields });

test.each([
  [new LostConnection("cut"), [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]],
  [busy({ serverResponseCode: "OVERQUOTA" }), [5, 10, 20, 40, 80, 160, 300, 300]],
  [busy({ serverResponseCode: "INUSE", responseText: "slow down" }), [5, 10]],
  [busy({ responseText: "Server Unavailable. 15" }), [5, 10]],
  [busy({ response: { attributes: [{ section: [{ value: "UNAVAILABLE" }] }] } }), [5, 10]],
  [busy({ responseText: "try again in 90 seconds" }), [90, 90]],
  [busy({ serverResponseCode: "NOPERM", responseText: "Folder LIMIT: try again later" }), [null]],
  [
    busy({ code: "ETHROTTLE", responseText: "Suggested Backoff Time: 92415 milliseconds" }),
    [92.415],
  ],
  [busy({ responseText: "no such folder" }), [null]],
])("after %s the waits are %j seconds", (error, seconds) => {
  const waits = seconds.map((_, attempt) => retryDelayMs(error, attempt));
  expect(waits).toEqual(seconds.map((wait) => (wait === null ? null : wait * 1000)));
});
