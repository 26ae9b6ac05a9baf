import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { env as programEnvironment } from "node:process";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { outputOf, readCodeBlocks, startCommand, startUntil, untilPrinted } from "./run-command.ts";
import { fillSheet, labeller } from "./testing/label-page.ts";

const root = dirname(import.meta.dirname);
const page = "docs/tickets.md";
const fixtures = join(root, "fixtures/tickets");

/** The commands of the page's `console` blocks, each with the output below it. */
const [emulator, ...sessions] = readCodeBlocks(page, "console").flatMap((block) =>
  block.split(/^\$ /m).slice(1).map(toSession),
);

function toSession(block: string) {
  const [command = "", ...lines] = block.trimEnd().split("\n");
  return { command, shown: lines.join("\n") };
}

/** The parts of the output that differ between runs. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT"],
  [/\b\d+ s\b/g, "TIME"],
  // The artifact names the service, and so its port.
  [/"artifact":"[0-9a-f]{16}"/g, '"artifact":"HASH"'],
];

function withoutVarying(printed: string): string {
  return varying.reduce((kept, [pattern, name]) => kept.replaceAll(pattern, name), printed.trim());
}

/** Returns `shown` if the output is equal, except for text in place of each `…`; else the output. */
function abridge(printed: string, shown: string): string {
  // A line of `…` may be no line at all.
  const parts = shown.replaceAll(/\n…(?=\n|$)/g, "…").split("…");
  let rest = printed;
  for (const [index, part] of parts.entries()) {
    const last = rest.length - part.length;
    const at = index === 0 ? 0 : index === parts.length - 1 ? last : rest.indexOf(part);
    if (at < 0 || !rest.startsWith(part, at)) return printed;
    rest = rest.slice(at + part.length);
  }
  return rest === "" ? shown : printed;
}

test("the page starts like this", () => {
  expect(readCodeBlocks(page, "sh").flatMap((block) => block.trim().split("\n"))).toEqual([
    "npm install evaluator-cli",
    'export PATH="$PWD/node_modules/.bin:$PATH"',
    "evaluator-cli sample tickets",
    "cd tickets",
    "export EVALUATOR_BASE_URL=http://127.0.0.1:8787/v4/ai AI_GATEWAY_API_KEY=local",
  ]);
});

test("the page shows the questions of the fixtures", async () => {
  const [shown = ""] = readCodeBlocks(page, "json");
  const questions = await readFile(join(fixtures, "questions.json"), "utf8");
  expect(JSON.parse(shown)).toEqual(JSON.parse(questions));
});

test("the README promises the labels, acts and minutes of the page", async () => {
  const shown = await readFile(join(root, page), "utf8");
  const numberIn = (pattern: RegExp) => pattern.exec(shown)?.[1] ?? "none";
  const labels = numberIn(/^(\d+) labels, 0 skipped$/m);
  const minutes = { 4: "four", 5: "five" }[Math.ceil((3 * Number(labels)) / 60)];
  expect(shown).toContain(`labelled ${labels} tickets`);
  expect(shown).toContain(`At three seconds a label, the labels take ${minutes} minutes`);
  const readme = (await readFile(join(root, "README.md"), "utf8")).replaceAll("\n", " ");
  expect(readme).toContain(
    `After ${labels} labels, which take ${minutes} minutes, it acts on ${numberIn(/^acts on (\d+) of 400/m)} of them`,
  );
  const [, records, wrong] =
    /exactly these (\d+) records without a label at most (\d+)/.exec(shown) ?? [];
  expect(readme).toContain(`at most ${wrong} wrong of the ${records} without a label`);
});

test("each command of the page prints what the page shows", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tickets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const bin = join(root, "node_modules/.bin");
  const PATH = `${bin}${delimiter}${programEnvironment["PATH"]}`;
  await outputOf("evaluator-cli sample tickets", { cwd: folder, env: { PATH } });
  const cwd = join(folder, "tickets");
  const start = `${emulator?.command} --port 0`;
  const [, address = ""] = await startUntil(start, /gateway +(\S+)/, { cwd, env: { PATH } });
  const env = { PATH, EVALUATOR_BASE_URL: address, AI_GATEWAY_API_KEY: "local" };
  const label = await labeller(fixtures);
  for (const { command, shown } of sessions) {
    if (command.includes("--labels later.ndjson")) await fillSheet(cwd, "later.ndjson");
    const child = startCommand(`{ ${command}\n} 2>&1`, { cwd, env });
    const printed = text(child.stdout);
    if (command.startsWith("evaluator-cli label ")) {
      const [, origin = ""] = await untilPrinted(child, /at (http:\S+) /);
      // As many as the page counts.
      const [, count] = /^(\d+) labels,/m.exec(shown) ?? [];
      await label(origin, Number(count));
    }
    const wanted = withoutVarying(shown);
    const found = abridge(withoutVarying(await printed), wanted);
    expect({ command, found }).toEqual({ command, found: wanted });
  }
});
