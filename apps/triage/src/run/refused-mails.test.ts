import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";
import { refusing, statusError, words } from "../testing/refusing.ts";

const long = sampleMail({ id: "long", snippet: "word ".repeat(100) });
const mails = [long, sampleMail({ id: "short" })];

test("a mail that the service refuses as too long is named once, then counted, and not asked again", async () => {
  const cwd = await folderWith(mails);
  const { transport, asked } = refusing();
  const first = await startTriage(["inbox.json"], { cwd, transport });
  expect(first.stderr).toContain(`Failed: record at index 0 (id "long"): ${words}\n`);
  const results = await readResults(cwd);
  expect(results[0]).toMatchObject({ id: "long", scam: null, error: words });
  expect(results[1]).not.toHaveProperty("error");

  const dry = await startTriage(["inbox.json", "--dry-run"], { cwd, transport });
  expect(dry.stdout).toContain("To ask: 0 mails");
  expect(dry.stdout).toContain("; 1 answered already, 1 refused as too long.\n");
  const second = await startTriage(["inbox.json"], { cwd, transport });
  expect(second.stderr).not.toContain("Failed:");
  expect(second.stderr).toContain("1 refused as too long by an earlier run and not asked again");
  expect([first.exitCode, second.exitCode, await readResults(cwd)]).toEqual([2, 2, results]);
  expect(asked).toEqual(["long", "short"]);

  const said = async (...argv: string[]) => (await startTriage(argv, { cwd })).stdout;
  expect(await said("status")).toBe("1 of 2 mails answered\n$0.000013 · 1 failed\n");
  expect(JSON.parse(await said("export"))).toEqual(results);
  const lack = (await startTriage(["export"], { cwd })).stderr;
  expect(lack).toContain('say why in "error"; 1 refused as too long and not asked again.\n');
  expect((await startTriage(["explain", "long"], { cwd })).stderr).toContain(words);
});

test("what is missing for another reason is told apart from what is refused", async () => {
  const cwd = await folderWith([...mails, sampleMail({ id: "lost", subject: "lost" })]);
  const { transport } = refusing();
  const send: typeof transport.send = async (request, ...rest) => {
    const { subject } = request.state as { subject: string };
    if (subject === "lost") throw statusError(404, "Gone.");
    return await transport.send(request, ...rest);
  };
  await startTriage(["inbox.json"], { cwd, transport: { ...transport, send } });
  const { stderr } = await startTriage(["export"], { cwd });
  expect(stderr).toContain('not asked again; "evaluator-triage work" asks for the other 1.\n');
  const { stdout } = await startTriage(["report"], { cwd });
  expect(stdout).toContain("asks for missing answers, but not for mails refused as too long.");
});

test("it is asked about again when its text, the questions or the engine change", async () => {
  const cwd = await folderWith(mails);
  const { transport, asked } = refusing();
  await startTriage(["inbox.json"], { cwd, transport });
  await writeFile(join(cwd, "inbox.json"), JSON.stringify([{ ...long, snippet: "cut" }, mails[1]]));
  expect((await startTriage(["inbox.json"], { cwd, transport })).exitCode).toBe(0);
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(mails));
  await startTriage(["inbox.json", "--context"], { cwd, transport });
  const other = refusing("direct");
  await startTriage(["inbox.json"], { cwd, transport: other.transport });
  expect([asked, other.asked]).toEqual([
    ["long", "short", "short", "long", "short"],
    ["long", "short"],
  ]);
});

test("a journal from before there were refusals is read and written as it is", async () => {
  const cwd = await folderWith(mails);
  const { transport, asked } = refusing();
  await startTriage(["inbox.json"], { cwd, transport });
  const database = new DatabaseSync(join(cwd, "inbox.triage.sqlite"));
  database.exec("DROP TABLE refusals");
  database.close();
  const before = await readFile(join(cwd, "inbox.triage.sqlite"));
  for (const argv of [["status"], ["inbox.json", "--dry-run"], ["report", "inbox.json"]]) {
    expect(await startTriage(argv, { cwd, transport })).toMatchObject({ exitCode: 0 });
  }
  expect(await readFile(join(cwd, "inbox.triage.sqlite"))).toEqual(before);
  await startTriage(["inbox.json"], { cwd, transport });
  await startTriage(["inbox.json"], { cwd, transport });
  expect(asked).toEqual(["long", "short", "long"]);
});
