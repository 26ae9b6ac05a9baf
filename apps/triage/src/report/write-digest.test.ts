import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseMessage } from "../import/parse-message.ts";
import { named, ReportPages, triaged } from "../testing/report-pages.ts";
import { startTriage } from "../testing/start-triage.ts";

const reports = new ReportPages();
afterAll(() => reports.close());

test("the top of the list is one page or one mail, which only its owner can read", async () => {
  const cwd = await triaged(named("<b>calm", "urgent"), [{}, { importance: 5 }]);
  const env = { TRIAGE_USER_ADDRESSES: "ada@example.com, ada@home.example" };
  const outcome = await startTriage(["digest", "inbox.json"], { cwd, env });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: `Wrote ${cwd}/inbox.digest.html\n` });
  const html = await readFile(join(cwd, "inbox.digest.html"), "utf8");
  expect(html).toMatch(/urgent[^]*Needs you[^]*&lt;b&gt;calm[^]*Receipt/);
  expect(html).not.toContain("<script");
  expect(await reports.problemsIn(join(cwd, "inbox.digest.html"))).toEqual([]);

  await startTriage(["digest", "inbox.json", "--eml"], { cwd, env });
  const path = join(cwd, "inbox.digest.eml");
  const bytes = await readFile(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(
    bytes
      .toString()
      .split("\r\n")
      .every((line) => line.length <= 78),
  ).toBe(true);
  const mail = await parseMessage(bytes);
  expect(mail).toMatchObject({ from: "ada@example.com", subject: "Triage of 2 mails" });
  expect(mail.text).toContain("urgent");
});

test.each([
  ["report", "inbox.triage.html", []],
  ["digest", "inbox.digest.html", []],
  ["digest", "inbox.digest.eml", ["--eml"]],
])("%s replaces its own %s, and no other file", async (command, name, options) => {
  const cwd = await triaged(named("calm"));
  await writeFile(join(cwd, name), "mine");
  const words = [command, "inbox.json", ...options];
  const { exitCode, stderr } = await startTriage(words, { cwd });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("this command did not write it")]);
  expect(await readFile(join(cwd, name), "utf8")).toBe("mine");
  await rm(join(cwd, name));
  for (const _ of [1, 2]) expect(await startTriage(words, { cwd })).toMatchObject({ exitCode: 0 });
});

test("a page and a mail at once are refused", async () => {
  const cwd = await triaged(named("calm"));
  const { exitCode, stderr } = await startTriage(["digest", "inbox.json", "--html", "--eml"], {
    cwd,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("--html");
});
