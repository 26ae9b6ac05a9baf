import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { imapEnv, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";
import { twoEngines } from "../testing/two-engines.ts";

test("the report shows how much each engine answered, cost and, with labels, got wrong", async () => {
  const ids = ["m-1", "m-2", "m-3", "m-4"];
  const cwd = await folderWith(ids.map((id) => sampleMail({ id, subject: id })));
  const { first, again, openTransport, words } = twoEngines();
  const typed = ["inbox.json", "--concurrency", "1", ...words, "--then-unsure", "scam=0.99"];
  const ended = await startTriage(typed, { cwd, openTransport });
  expect(ended.exitCode).toBe(0);
  expect(first.requests).toHaveLength(4);
  expect(again.requests.map(({ questions }) => Object.keys(questions))).toEqual([
    ["scam"],
    ["scam"],
  ]);
  const report = async () => {
    const page = (await startTriage(["report"], { cwd })).stdout.replaceAll(/\s+/g, " ");
    return /Step 1.*?(?:are wrong|of step 2)\./.exec(page)?.[0];
  };
  const one = "Step 1, gateway unknown: asked about 4 records, gave 14 answers, $0.00005. ";
  const two = "Step 2, openai b: asked about 2 records, gave 2 answers (2 unsure), $0.000025. ";
  const steps = one + two;
  expect(await report()).toBe(
    `${steps}No answer is labelled yet, so it is not known how many of each step are wrong.`,
  );
  const labels = [
    { id: "m-1", question: "scam", truth: false },
    { id: "m-2", question: "scam", truth: true },
    { id: "m-4", question: "scam", truth: false },
    { id: "m-3", question: "brand_deal", truth: true },
    { id: "m-3", question: "scam", truth: true, origin: "override" },
    { id: "m-9", question: "scam", truth: true },
    { id: "m-1", question: "retired", truth: true },
  ];
  const lines = labels.map((label) => `${JSON.stringify(label)}\n`).join("");
  await writeFile(join(cwd, "inbox.labels.ndjson"), lines);
  expect(await report()).toBe(
    `${steps}Wrong answers by the labels: 1 of 2 of step 1, 1 of 2 of step 2.`,
  );
  await writeFile(join(cwd, "inbox.labels.ndjson"), `${lines}{"id":"m-1","question":"scam"}\n`);
  const broken = await startTriage(["report"], { cwd });
  expect(broken).toMatchObject({ exitCode: 1, stdout: "" });
  expect(broken.stderr).toContain("inbox.labels.ndjson line 8: has no truth");
});

test("watch asks the second engine about the unsure answers of each new mail", async () => {
  const mail = (id: string) => `Message-ID: <${id}@example.com>\r\nSubject: mail ${id}\r\n\r\nHi.`;
  const internaldate = "03-Nov-2026 09:00:00 +0000";
  const messages = ["one", "two"].map((id) => ({ raw: mail(id), internaldate }));
  const { server, account } = await startHoodiecrow({ messages, uidvalidity: 7 });
  const cwd = await temporaryFolder();
  const { first, again, openTransport, words } = twoEngines();
  const stopped = new AbortController();
  const { signal } = stopped;
  const typed = ["watch", `${account}/INBOX`, "inbox.json", "--concurrency", "1", ...words];
  const services = { cwd, openTransport, env: imapEnv, clock: systemClock, signal };
  const ended = startTriage(typed, services);
  await expect.poll(() => again.requests.length).toBe(1);
  for (const name of ["three", "four"]) {
    server.appendMessage("INBOX", [], internaldate, mail(name));
    const count = name === "three" ? 3 : 4;
    await expect.poll(async () => (await readResults(cwd)).length).toBe(count);
  }
  stopped.abort();
  expect((await ended).exitCode).toBe(130);
  expect([first.requests.length, again.requests.length]).toEqual([4, 2]);
  const scams = (await readResults(cwd)).map(({ scam }) => scam);
  expect(scams).toEqual([0.02, 0.97, 0.02, 0.97]);
});
