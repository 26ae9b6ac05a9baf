import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inbox, machinesOnPglite } from "../testing/machines-on-pglite.ts";
import { folderWith, stoppedClock } from "../testing/start-triage.ts";

const { start, serve } = machinesOnPglite();
const clockOf = (day: string) => ({
  ...stoppedClock,
  epochNow: () => Date.parse(`${day}T12:00:00Z`),
});

/** Returns the ids of the mails in the list of the next report. */
async function reported(cwd: string, day: string): Promise<string[]> {
  await start(["report", "inbox.json"], { cwd, clock: clockOf(day) });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  const subjects = page.matchAll(/class="subject">([^<$]*)</g);
  return Array.from(subjects, ([, subject = ""]) => subject.trim()).toSorted();
}

test("what one machine puts away is left out of the lists of all, until it returns", async () => {
  const [cwd, other] = [await folderWith(inbox(4)), await folderWith(inbox(4))];
  await start(["inbox.json"], { cwd });
  const { origin, stop } = await serve(["serve", "inbox.json"], {
    cwd,
    clock: clockOf("2026-11-24"),
  });
  const choose = async (fields: Record<string, string>) => {
    await fetch(origin);
    const body = new URLSearchParams(fields);
    return (await fetch(`${origin}/choices`, { method: "POST", body })).status;
  };
  expect(await choose({ id: "m-0", choice: "done" })).toBe(200);
  expect(await choose({ id: "m-1", choice: "snooze", until: "2026-11-26" })).toBe(200);
  expect(await reported(other, "2026-11-25")).toEqual(["About 2", "About 3"]);
  expect(await reported(other, "2026-11-26")).toEqual(["About 1", "About 2", "About 3"]);
  expect(await choose({ id: "m-0", choice: "open" })).toBe(200);
  expect(await reported(other, "2026-11-26")).toHaveLength(4);
  expect(await choose({ id: "m-2", choice: "wrong", right: "scam:0" })).toBe(200);
  const labels = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  expect(JSON.parse(labels)).toMatchObject({ id: "m-2", question: "scam", origin: "override" });
  await stop();
  // Another input has its own mails with these ids.
  await writeFile(join(cwd, "spam.json"), JSON.stringify(inbox(5)));
  await start(["spam.json"], { cwd });
  await start(["report", "spam.json"], { cwd, clock: clockOf("2026-11-24") });
  expect(await readFile(join(cwd, "spam.triage.html"), "utf8")).not.toContain("Not shown:");
});

test("answers in a shared database are labelled, and the next command does not show its URL", async () => {
  const cwd = await folderWith(inbox(3));
  await start(["inbox.json"], { cwd });
  const words = ["label", "inbox.json", "--question", "scam", "--count", "2"];
  const { origin, stop } = await serve(words, { cwd });
  const page = await (await fetch(origin)).text();
  const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? "";
  expect(page).toMatch(/About \d/);
  const body = new URLSearchParams({ question: "scam", id, at: "0", answer: "0" });
  await fetch(`${origin}/labels`, { method: "POST", body });
  const { said } = await stop();
  expect(said).toContain(
    'Next: evaluator-cli calibrate inbox.labels.ndjson --answers "$TRIAGE_JOURNAL#1"\n',
  );
  const labels = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  expect(JSON.parse(labels)).toMatchObject({ id, question: "scam", labeler: "person" });
});
