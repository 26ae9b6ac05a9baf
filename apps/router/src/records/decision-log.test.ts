import { open as openFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { findRecord } from "../report/read-records.ts";
import { defaultTierModels } from "../router-options.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { testRouter } from "../testing/test-router.ts";
import { openDecisionLog } from "./decision-log.ts";
import type { MessageRecord } from "./message-record.ts";

const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 2 };
const prices = new Map(Object.values(defaultTierModels).map((model) => [model, price]));

test("each message is one line with ids, shares, times and costs, and no text", async () => {
  const { path, log } = await openTestLog();
  const { request, chat } = await testRouter({}, { log, prices });
  await chat({ message: "hi" });
  const headers = { "content-type": "application/json", "x-request-id": "my-own-id" };
  const body = '{"message":"a secret plan for the moon"}';
  await request("/decide", { method: "POST", headers, body });
  await log.close();
  const text = await readFile(path, "utf8");
  const lines = text.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as MessageRecord);
  expect(records).toMatchObject([
    {
      endpoint: "chat",
      outcome: "replied",
      tierChosen: "nano",
      tierUsed: "nano",
      cause: "choice",
      model: defaultTierModels.nano,
      probabilities: { nano: 0.97 },
      confidence: 0.96,
      decisionCostUsd: expect.any(Number),
      replyCostUsd: expect.any(Number),
      frontierCostUsd: expect.any(Number),
    },
    { requestId: "my-own-id", endpoint: "decide", outcome: "decided", replyMs: null },
  ]);
  expect(text).not.toMatch(/secret|moon|local emulator|"hi"/);
  expect(lines.map((line) => findRecord(line)?.outcome)).toEqual(
    records.map(({ outcome }) => outcome),
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a record is written after its answer is sent", async () => {
  const path = join(await temporaryFolder(), "decisions.jsonl");
  const steps: string[] = [];
  const open: typeof openFile = async (...file) => {
    const opened = await openFile(...file);
    const write = opened.write.bind(opened) as (bytes: Buffer, at: number) => Promise<object>;
    const noted = (bytes: Buffer, at: number) => (steps.push("written"), write(bytes, at));
    return Object.assign(opened, { write: noted });
  };
  const log = await openDecisionLog(path, (line) => expect.fail(line), open);
  const { chat } = await testRouter({}, { log });
  await chat({ message: "hi" }).then(() => steps.push("answered"));
  await log.close();
  expect(steps.slice(0, 2)).toEqual(["answered", "written"]);
});

test("a failed decision, a failed reply and a stopped one differ", async () => {
  const outcomes: string[] = [];
  const observe = ({ outcome, failure }: MessageRecord) =>
    outcomes.push(`${outcome} ${failure ?? ""}`.trim());
  const fails = () => Response.json({ error: { message: "no" } }, { status: 400 });
  await (await testRouter({ evaluation: fails }, { observe })).chat({ message: "hi" });
  await (await testRouter({ reply: fails }, { observe })).chat({ message: "hi" });
  const client = new AbortController();
  const leaves = () => {
    client.abort();
    return fails();
  };
  const { chat } = await testRouter({ reply: leaves }, { observe });
  await chat({ message: "hi" }, { signal: client.signal });
  expect(outcomes).toEqual(["no-decision StatusError", "reply-failed", "stopped"]);
});

test("a file that cannot be written is one line that names the variable", async () => {
  const path = join(await temporaryFolder(), "no", "such", "folder");
  await expect(openDecisionLog(path, (line) => expect.fail(line))).rejects.toThrow(
    `Cannot write ${path}: no such file or directory. Check the path. ROUTER_DECISION_LOG names it.`,
  );
});
