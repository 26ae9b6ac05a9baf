import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "evaluator-kit/testing";
import { openTransport } from "evaluator-runs/commands";
import { expect, test } from "vitest";
import { startTriage } from "./testing/start-triage.ts";

const readme = new URL("../README.md", import.meta.url);
const ownExamples = fileURLToPath(new URL("../examples/", import.meta.url));
const inbox = new URL("../../../fixtures/mail/inbox.json", import.meta.url);

const takeout = ["Inbox", "Inbox", "Sent"].map(
  (label, index) =>
    `From ada@example.com Mon Nov  2 09:00:00 2026\nMessage-ID: <${index}@mail.example>\n` +
    `From: ada@example.com\nDate: Mon, 02 Nov 2026 09:00:00 +0000\nSubject: About ${index}\n` +
    `X-Gmail-Labels: ${label}\n\nHello.\n\n`,
);

interface Example {
  readonly words: readonly string[];
  /** What is shown of the lines, as `slice` takes it. */
  readonly part: readonly [number, (number | undefined)?];
  readonly printed: string;
}

/** The commands of the README with what it says they print. */
async function examples(): Promise<Example[]> {
  const text = await readFile(readme, "utf8");
  const blocks = text.matchAll(/```console\n\$ npx evaluator-triage ([^\n]+)\n([^`]+)```/g);
  return [...blocks].map(([, command = "", printed = ""]) => {
    const [words = "", part = "head", lines = "0"] = command.split(/ \| (head|tail) -/);
    const quoted = words.match(/"[^"]*"|\S+/g) ?? [];
    return {
      words: quoted.map((word) => word.replaceAll('"', "")),
      part: part === "tail" ? [-Number(lines)] : [0, Number(lines) || undefined],
      printed,
    };
  });
}

function withoutTimes(printed: string): string {
  return printed.replace(/[\d,]+ (m?s)\b/g, "some $1");
}

test("every command in the README prints what it says", async () => {
  const cwd = await temporaryFolder();
  await copyFile(inbox, join(cwd, "inbox.json"));
  await writeFile(join(cwd, "takeout.mbox"), takeout.join(""));
  await cp(ownExamples, join(cwd, "apps/triage/examples"), { recursive: true });
  const all = await examples();
  expect(all).toHaveLength(10);
  for (const { words, part, printed } of all) {
    let real = "";
    const sink = { write: (text: string) => (real += text) };
    const given = { cwd, openTransport, stdout: sink, stderr: sink };
    const { exitCode } = await startTriage(words, given);
    expect(exitCode).toBe(0);
    const shown = `${real
      .trimEnd()
      .split("\n")
      .slice(...part)
      .join("\n")}\n`;
    expect(withoutTimes(shown.replaceAll(cwd, "/home/ada/mail"))).toBe(withoutTimes(printed));
  }
});

test("four commands lead from a mailbox to a list", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "takeout.mbox"), takeout.join(""));
  const [, block = ""] =
    /Monday list\n\n```sh\n([^`]+)```/.exec(await readFile(readme, "utf8")) ?? [];
  const commands = block.trimEnd().split("\n");
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const [, words = ""] = /^npx evaluator-triage (.+?) +#/.exec(command) ?? [];
    expect(await startTriage(words.split(" "), { cwd })).toMatchObject({ exitCode: 0 });
  }
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  expect(page).toContain("<title>Triage of 2 mails</title>");
});
