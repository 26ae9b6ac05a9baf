import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const nasty = "<script>alert(1)</script>\u202e";
const mails = [
  sampleMail({ id: "m-1", subject: nasty }),
  sampleMail({ id: "m-2", subject: "Another" }),
  sampleMail({ id: "m-3", subject: "A third" }),
];
const context = ["inbox.json", "--context", "--today", "2026-11-12"];

/** Runs with the importance of each call, and returns what the report says that context changed. */
async function sectionAfter(runs: readonly (readonly [readonly string[], number[]])[]) {
  const cwd = await folderWith(mails);
  for (const [words, levels] of runs) {
    const transport = recordingTransport((at) => sampleResponse({ importance: levels[at] ?? 0 }));
    await startTriage(words, { cwd, transport });
  }
  await startTriage(["report", "inbox.json"], { cwd });
  const page = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  const [section = ""] = /<section [^>]*id="context"[^]*?<\/section>/.exec(page) ?? [];
  return section.replace(/\s+/g, " ");
}

test("the report shows what the context changed, the largest first, and a mail's words as text", async () => {
  const section = await sectionAfter([
    [["inbox.json"], [3, 2, 2]],
    [context, [1, 2, 5]],
  ]);
  expect(section).toContain(
    "3 mails were asked about with and without it: it changed importance of 2.",
  );
  const rows = [
    ...section.matchAll(/<tr> <th scope="row">(.*?)<small>.*?<td>(.*?)<\/td> <td>(.*?)<\/td>/g),
  ];
  const read = "age_days 10, repeat_count 1, known_contact false, today 2026-11-12";
  expect(rows.map(([, ...cells]) => cells.map((cell) => cell.trim()))).toEqual([
    ["A third", "importance 2.00 → 5.00", read],
    ["&lt;script&gt;alert(1)&lt;/script&gt;", "importance 3.00 → 1.00", read],
  ]);
});

test("without a run to compare with it says how to make one, and without context nothing", async () => {
  const section = await sectionAfter([[context, [1, 2, 3]]]);
  expect(section).toContain("A run over the same file without --context and --state-fields shows");
  expect(await sectionAfter([[["inbox.json"], [1, 2, 3]]])).toBe("");
});
