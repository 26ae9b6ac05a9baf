import { systemClock } from "evaluator-kit";
import { temporaryFolder } from "evaluator-kit/testing";
import { twoEngines } from "evaluator-runs/testing";
import { expect, test } from "vitest";
import { imapEnv, startHoodiecrow } from "../testing/start-hoodiecrow.ts";
import { readResults, startTriage } from "../testing/start-triage.ts";

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
