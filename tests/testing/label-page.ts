import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Label = { readonly id: string; readonly truth: boolean | null };

async function readLabels(path: string): Promise<Label[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Label);
}

async function readTruths(folder: string) {
  const labels = await readLabels(join(folder, "truth.ndjson"));
  return new Map(labels.map(({ id, truth }) => [id, truth]));
}

/** Fills in the truth of each line of a sheet by the `truth.ndjson` beside it. */
export async function fillSheet(folder: string, name: string): Promise<void> {
  const truths = await readTruths(folder);
  const rows = await readLabels(join(folder, name));
  const filled = rows.map((row) => Object.assign(row, { truth: truths.get(row.id) }));
  await writeFile(join(folder, name), filled.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/** Returns a function that labels records on the page of `label` by the folder's `truth.ndjson`, and ends it. */
export async function labeller(folder: string) {
  const truths = await readTruths(folder);
  return async (origin: string, count: number): Promise<void> => {
    for (let labelled = 0; labelled < count; labelled += 1) {
      const html = await (await fetch(origin)).text();
      const hidden = /type="hidden" name="(\w+)" value="([^"]*)"/g;
      const fields = Object.fromEntries(Array.from(html.matchAll(hidden), ([, ...field]) => field));
      const truth = truths.get(fields["id"] ?? "");
      const answer = truth === null ? "skip" : truth === true ? "0" : "1";
      const body = new URLSearchParams({ ...fields, answer });
      await fetch(`${origin}/labels`, { method: "POST", body, redirect: "manual" });
    }
    await fetch(`${origin}/end`, { method: "POST" });
  };
}
