import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { findRecord } from "../report/read-records.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { testRouter } from "../testing/test-router.ts";
import { readNotes } from "../testing/read-notes.ts";

async function startLogged() {
  const { path, log } = await openTestLog();
  return { path, log, ...(await testRouter({}, { log })) };
}

const post = (body: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

test("what somebody says of a tier is in the decision log by the request's id", async () => {
  const { path, log, request, chat } = await startLogged();
  const requestId = (await chat({ message: "hi" })).headers.get("x-request-id") ?? "";
  for (const tier of ["balanced", "fast"]) {
    expect((await request("/feedback", post({ requestId, tier }))).status).toBe(204);
  }
  expect(await (await request("/metrics")).text()).toContain(
    'router_feedback_total{tier="fast"} 1',
  );
  await log.close();
  expect(await readNotes(path)).toEqual(
    ["balanced", "fast"].map((feedback) => ({ requestId, feedback })),
  );
  const lines = (await readFile(path, "utf8")).split("\n");
  const [line = "", ...others] = lines;
  expect(others.map(findRecord)).toEqual([null, null, null]); // feedback is no message
  expect(JSON.parse(line)).toMatchObject({ requestId, tierChosen: "nano", shadow: null });
});

test.each([
  [{ requestId: "a", tier: "huge" }, "tier is none of nano"],
  [{ requestId: "a b", tier: "nano" }, "requestId is no id"],
  [{ tier: "nano" }, "requestId"],
])("%j is rejected by its field", async (body, message) => {
  const { request } = await startLogged();
  const response = await request("/feedback", post(body));
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: expect.stringContaining(message) });
});

test("without a log feedback is rejected, and says how to have one", async () => {
  const { request } = await testRouter();
  const response = await request("/feedback", post({ requestId: "a", tier: "nano" }));
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({ error: expect.stringContaining("ROUTER_DECISION_LOG") });
});
