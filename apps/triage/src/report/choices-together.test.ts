import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith, inbox, stoppedClock, triageMachines } from "../testing/start-triage.ts";

const { start, serve } = triageMachines();
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
