import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "evaluator-kit/testing";
import { makeDatabase, runSql } from "evaluator-runs/testing";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { startTriageProgram } from "../src/testing/start-triage.ts";

const url = inject("postgresUrl");
const fixture = fileURLToPath(new URL("../../../fixtures/mail/inbox.json", import.meta.url));
const readme = new URL("../README.md", import.meta.url);

/** Makes a folder with the inbox of the fixtures, answered by the emulator. */
async function answeredInbox(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const cwd = await temporaryFolder();
  await copyFile(fixture, join(cwd, "inbox.json"));
  const { exitCode, stderr } = await startTriageProgram(["inbox.json", "--offline"], { cwd, env })
    .ended;
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Wrote 42")]);
  return cwd;
}

const endings = [
  ["--timeout", 1, "The query took over 3 seconds. Ask for less, or set --timeout.\n"],
  ["SIGINT", 130, "Interrupted; nothing was written.\n"],
  ["SIGTERM", 143, "Interrupted; nothing was written.\n"],
] as const;

describe.skipIf(process.platform !== "linux")("a query that does not end", () => {
  test.skipIf(url === null)(
    "is ended on the server, of a role as the README makes it",
    async () => {
      const database = await makeDatabase(url ?? "");
      const cwd = await answeredInbox({ TRIAGE_JOURNAL: database });
      const name = new URL(database).pathname.slice(1);
      const role = `reader_${name.slice(-32)}`;
      const text = await readFile(readme, "utf8");
      const [, sql = ""] = /```sql\n(create role [^`]*)```/.exec(text) ?? [];
      // Its grants, and the one that every role has without them.
      await runSql(
        database,
        `revoke all on database ${name} from public; grant connect on database ${name} to public`,
        sql.replaceAll("triage_reader", role).replace("database triage", `database ${name}`),
      );
      const drop = `drop owned by ${role}; drop role ${role}`;
      onTestFinished(async () => void (await runSql(database, drop)));
      const own = new URL(database);
      [own.username, own.password] = [role, "…"];
      const env = { TRIAGE_JOURNAL: own.href };
      const isOfRole = `select from pg_stat_activity where usename = '${role}'`;
      const isActive = `${isOfRole} and query ~ '^fetch 1' and state = 'active'`;
      const count = async (text: string) => (await runSql(database, text)).length;

      const whole = startTriageProgram(["query", "select count(*) from mails, runs"], { cwd, env });
      expect(await whole.ended).toEqual({ exitCode: 0, stderr: "" });
      const endless = "select count(*) from generate_series(1, 1000000000000), mails";
      for (const [ending, exitCode, stderr] of endings) {
        const words = ["query", endless, "--timeout", ending === "--timeout" ? "3" : "600"];
        const query = startTriageProgram(words, { cwd, env });
        await expect.poll(() => count(isActive)).toBe(1);
        if (ending !== "--timeout") query.child.kill(ending);
        expect(await query.ended).toEqual({ exitCode, stderr });
        await expect.poll(() => count(isOfRole)).toBe(0);
      }
    },
  );
});
