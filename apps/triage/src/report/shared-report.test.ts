import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseError } from "evaluator-runs/postgres";
import { expect, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { folderWith, inbox, triageMachines } from "../testing/start-triage.ts";

const { env, start } = triageMachines();

async function read(cwd: string, name: string): Promise<string> {
  return await readFile(join(cwd, name), "utf8");
}

test("the report shows where each mail stands in its export, as that of a journal file does", async () => {
  const first = { file: "mail/All.mbox", offset: 1000 };
  const second = { ...first, offset: 2000 };
  const mails = [
    sampleMail({ id: "m-0" }),
    // Mails of one sender with one subject and text share a row.
    sampleMail({ id: "m-1", subject: "A first question", source: first }),
    sampleMail({ id: "m-2", subject: "Another question", source: second }),
  ];
  const pages = await Promise.all(
    [{}, env].map(async (journal) => {
      const cwd = await folderWith(mails);
      await start(["inbox.json"], { cwd, env: journal });
      await start(["report", "inbox.json"], { cwd, env: journal });
      return (await read(cwd, "inbox.triage.html")).match(/mail\/All\.mbox, byte [\d,]+/g);
    }),
  );
  expect(pages).toEqual([pages[1], ["mail/All.mbox, byte 1,000", "mail/All.mbox, byte 2,000"]]);
});

test("a report names the file that no run of the database is about", async () => {
  const cwd = await folderWith(inbox(1));
  const { exitCode, stderr } = await start(["report", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("This journal has no run about inbox.json; start one first.");
});

test("the mails of a longer export are new in its report", async () => {
  const cwd = await folderWith(inbox(3));
  await start(["inbox.json"], { cwd });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(inbox(4).slice(1)));
  await start(["inbox.json"], { cwd });
  await start(["report", "inbox.json", "--only", "new"], { cwd });
  const page = await read(cwd, "inbox.triage.html");
  expect(page).toContain("Shown are 1 of 3 mails: only new.");
  expect(page.match(/class="mail is-new"/g)).toHaveLength(1);
  expect((await start(["report"], { cwd })).stdout).toMatch(/^<!doctype html>/);
});

test("what is wrong with the database is said by the report without its URL", async () => {
  const cwd = await folderWith(inbox(1));
  const broken = new DatabaseError("PostgreSQL is read-only.", { failure: "read-only" });
  const openRuns = () => Promise.reject(broken);
  const { exitCode, stderr } = await start(["report"], { cwd, openRuns });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("The journal in PostgreSQL cannot be used: PostgreSQL is read-only.");
  expect(stderr).not.toContain("secret");
});
