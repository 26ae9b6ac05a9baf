import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { toFailure } from "evaluator-runs/testing";
import { sampleMail } from "../testing/samples.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";
import { refusing, shorten, statusError, words } from "../testing/refusing.ts";

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
  expect(stderr).toContain('not asked again; "npm run triage -- work" asks for the other 1.\n');
  const { stdout } = await startTriage(["report"], { cwd });
  expect(stdout).toContain("asks for what is missing, but not for mails refused as too long.");
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

test.each([
  [413, "Send a smaller state.", null, true],
  [400, "The state and its questions are too long.", null, true],
  [400, "The service answered 400.", "max_tokens_exceeded", true],
  [422, "The request exceeds the available context size.", null, true],
  [400, "Your credit balance is too low.", null, false],
  [400, "API key not valid.", "invalid_request_error", false],
  [404, "The context length of no such model is known.", null, false],
  [429, "Too many tokens per minute.", null, false],
])("a %i that says %j with the type %j is for good: %j", (status, message, type, isForGood) => {
  expect(toFailure(statusError(status, message, type)).isRefusal).toBe(isForGood);
});

test.each([
  [413, "The gateway answered 413. Send a smaller state.", "The gateway answered 413."],
  [
    400,
    'The server answered 400 (BadRequestError): "The "context" is too long." Send a smaller state.',
    'The server answered 400 (BadRequestError): "The "context" is too long."',
  ],
  [413, "Our box takes 4 kB.", "Our box takes 4 kB."],
])("of a %i that says %j is kept %j, and what to do", (status, message, kept) => {
  const { error } = toFailure(statusError(status, message));
  expect(error).toBe(`${kept} ${shorten}`);
});

test("other errors keep their advice", () => {
  const message = "The gateway answered 404. Check the base URL and the model id.";
  expect(toFailure(statusError(404, message))).toEqual({ error: message, isRefusal: false });
});
