import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { compileCache, temporaryFolder } from "evaluator-kit/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import { startTriage } from "../../src/testing/start-triage.ts";
import {
  fillMailbox,
  planFor,
  readMailbox,
  signIn,
  stateOf,
  type TestMail,
  toNdjson,
} from "./mailbox-of.ts";
import { runDoveadm } from "./start-dovecot.ts";
import { startProxy } from "../../src/testing/start-proxy.ts";

const server = inject("dovecot");
const env = { TRIAGE_IMAP_PASSWORD: server.password };
const actions = ["archive", "junk", "move Work", "keyword $Deal", "flag", "read"];
let users = 0;

/** Mails with and without the flags of the plan, some without a Message-ID or with that of another. */
function manyMails(count: number): TestMail[] {
  const flags = [[], ["\\Seen"], ["\\Flagged", "mine"], ["$Deal", "\\Seen"], ["\\Answered"]];
  return Array.from({ length: count }, (_, at) => ({
    subject: `mail ${String(at).padStart(4, "0")}`,
    ...(at % 9 !== 0 && { messageId: at % 7 === 0 ? "twice@example.com" : `${at}@example.com` }),
    flags: flags[at % flags.length] ?? [],
  }));
}

/** Fills a mailbox and writes a plan for it; commands go through a proxy. */
async function mailboxWithPlan(
  mails: readonly TestMail[],
  { given = actions, without = [] as string[], onReply = (text: string) => text } = {},
) {
  const user = `user${(users += 1)}`;
  const client = await fillMailbox(server, user, mails);
  onTestFinished(() => client.logout());
  await client.mailboxCreate("Work");
  const commands: string[] = [];
  const hooks = { onCommand: (_line: string): void | Promise<void> => {} };
  const proxy = await startProxy(server.port, {
    without,
    onReply,
    onCommand: async (line) => {
      commands.push(line);
      await hooks.onCommand(line);
    },
  });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const cwd = await temporaryFolder();
  const account = `imap://${user}@127.0.0.1:${proxy.port}`;
  const path = join(cwd, "inbox.plan.ndjson");
  const writePlan = async (name = path) => {
    await writeFile(name, toNdjson(planFor(await readMailbox(client), account, given)));
  };
  await writePlan();
  const run = (...words: string[]) => startTriage(words, { cwd, env });
  return { client, cwd, account, path, commands, hooks, proxy, run, writePlan };
}

test("apply does what the plan names, a second one nothing, and undo takes it back", async () => {
  const { client, cwd, run, commands } = await mailboxWithPlan(manyMails(250));
  const before = await stateOf(client);
  const refused = await run("apply", "inbox.plan.ndjson");
  expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("--yes")]);
  expect(commands).toEqual([]);
  const applied = await run("apply", "inbox.plan.ndjson", "--yes");
  expect(applied).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("Applied 250 mails"),
  });
  const mails = await readMailbox(client);
  expect(mails).toHaveLength(250);
  const places = Object.groupBy(mails, ({ folder }) => folder);
  expect(Object.entries(places).map(([name, all]) => [name, all?.length])).toEqual(
    expect.arrayContaining([
      ["Archive", 42],
      ["Junk", 42],
      ["Work", 42],
    ]),
  );
  const sent = commands.length;
  const again = await run("apply", "inbox.plan.ndjson", "--yes");
  expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("No line of") });
  expect(commands).toHaveLength(sent);
  const undone = await run("undo", "inbox.plan.ndjson");
  expect(undone).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^Undid \d+ mails\.\n$/),
  });
  expect(await stateOf(client)).toEqual(before);
  expect(commands.join("\n")).not.toMatch(/Deleted|EXPUNGE|CLOSE|DELETE|RENAME|APPEND/);
  expect(commands.join("\n")).toMatch(/UNCHANGEDSINCE/);
  expect((await stat(join(cwd, "inbox.plan.done.sqlite"))).mode & 0o777).toBe(0o600);
});

test.skipIf(process.env["TRIAGE_KILLS"] === "0")(
  "undo restores folders, flags and keywords after kills at random commands",
  async () => {
    const kills = Number(process.env["TRIAGE_KILLS"] ?? 20);
    const box = await mailboxWithPlan(manyMails(60));
    const before = await stateOf(box.client);
    // Counts the commands of a run that is not killed.
    await box.run("apply", "inbox.plan.ndjson", "--yes");
    const length = box.commands.length;
    await box.run("undo", "inbox.plan.ndjson");
    let hits = 0;
    for (let kill = 0; hits < kills; kill += 1) {
      const name = `plan-${kill}.ndjson`;
      await box.writePlan(join(box.cwd, name));
      const isHit = await killAt(box, ["apply", name, "--yes"], Math.ceil(Math.random() * length));
      hits += Number(isHit);
      // Each third undo is killed too.
      if (isHit && kill % 3 === 0)
        await killAt(box, ["undo", name], Math.ceil(Math.random() * length));
      const undone = await box.run("undo", name);
      expect(undone.stderr).toMatch(/^(?:Undid|Nothing)|Nothing of .* was applied/);
      expect(await stateOf(box.client)).toEqual(before);
    }
    process.stdout.write(`${hits} kills\n`);
  },
);

test("1,000 mails are moved and moved back, 100 in a command", async () => {
  const { client, run, commands } = await mailboxWithPlan(manyMails(1000), { given: ["archive"] });
  const before = await stateOf(client);
  expect((await run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
  expect(new Set((await readMailbox(client)).map(({ folder }) => folder))).toEqual(
    new Set(["Archive"]),
  );
  expect((await run("undo", "inbox.plan.ndjson")).exitCode).toBe(0);
  expect(commands.filter((line) => line.includes("UID MOVE"))).toHaveLength(20);
  expect(await stateOf(client)).toEqual(before);
});

test("without COPYUID the moved mails are found by what is known of them", async () => {
  const box = await mailboxWithPlan(manyMails(30), {
    given: ["archive", "move Work"],
    onReply: (text) => text.replaceAll(/\[COPYUID [^\]]*\]/g, ""),
  });
  // A copy of a mail was in the target before.
  const twin =
    "From: ada@example.com\r\nMessage-ID: <2@example.com>\r\nSubject: mail 0002\r\n\r\nHello.\r\n";
  await box.client.append("Archive", twin, ["\\Seen"], new Date("2026-11-02T09:00:00Z"));
  const before = await stateOf(box.client);
  expect((await box.run("apply", "inbox.plan.ndjson", "--yes")).exitCode).toBe(0);
  expect(await stateOf(box.client)).not.toEqual(before);
  expect((await box.run("undo", "inbox.plan.ndjson")).exitCode).toBe(0);
  expect(await stateOf(box.client)).toEqual(before);
});

test("a server without MOVE, and one without CONDSTORE", async () => {
  const box = await mailboxWithPlan(manyMails(12), { without: ["MOVE", "CONDSTORE", "QRESYNC"] });
  const before = await stateOf(box.client);
  const { exitCode, stderr } = await box.run("apply", "inbox.plan.ndjson", "--yes");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("the server has no MOVE")]);
  expect(stderr).toContain("Applied 6 mails");
  await box.run("undo", "inbox.plan.ndjson");
  expect(await stateOf(box.client)).toEqual(before);
  expect(box.commands.join("\n")).not.toMatch(/MOVE|COPY|Deleted/);
});

test("a plan of another UIDVALIDITY changes nothing", async () => {
  const box = await mailboxWithPlan(manyMails(6));
  const before = await stateOf(box.client);
  const user = new URL(box.account).username;
  await runDoveadm(server, "mailbox", "update", "-u", user, "--uid-validity", "4711", "INBOX");
  const { exitCode, stderr } = await box.run("apply", "inbox.plan.ndjson", "--yes");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("has another UIDVALIDITY")]);
  const client = await signIn(server, user);
  expect(await stateOf(client)).toEqual(before);
  await client.logout();
});

test("a lost connection is one sentence, and the next apply goes on", async () => {
  const box = await mailboxWithPlan(manyMails(12));
  const before = await stateOf(box.client);
  box.hooks.onCommand = (line) => {
    if (line.includes("UID MOVE")) box.proxy.cut();
  };
  const cut = await box.run("apply", "inbox.plan.ndjson", "--yes");
  expect([cut.exitCode, cut.stderr.trim().split("\n")]).toEqual([
    1,
    [expect.stringContaining("The connection to 127.0.0.1")],
  ]);
  box.hooks.onCommand = () => {};
  const next = await box.run("apply", "inbox.plan.ndjson", "--yes");
  expect([next.exitCode, next.stderr]).toEqual([0, expect.stringMatching(/^Applied \d+ mails\./)]);
  await box.run("undo", "inbox.plan.ndjson");
  expect(await stateOf(box.client)).toEqual(before);
});

type Box = Awaited<ReturnType<typeof mailboxWithPlan>>;

/** Runs the program and kills it at its nth command: before it is sent, after, or with its reply. */
async function killAt({ cwd, hooks, proxy }: Box, words: string[], at: number): Promise<boolean> {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const child = spawn(process.execPath, [main, ...words], {
    cwd,
    env: { ...env, ...compileCache },
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  let count = 0;
  const isBefore = Math.random() < 0.4;
  hooks.onCommand = async () => {
    count += 1;
    if (count !== at) return;
    child.kill("SIGKILL");
    await exit;
    if (isBefore) proxy.cut();
  };
  const [, signal] = (await exit) as [number, string | null];
  hooks.onCommand = () => {};
  return signal === "SIGKILL";
}
