import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Returns a function that labels records on the page of `label` by the folder's `truth.ndjson`, and ends it. */
export async function labeller(folder: string) {
  const lines = (await readFile(join(folder, "truth.ndjson"), "utf8")).trimEnd().split("\n");
  const truths = new Map(
    lines.map((line) => {
      const { id, truth } = JSON.parse(line) as { id: string; truth: boolean | null };
      return [id, truth];
    }),
  );
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
