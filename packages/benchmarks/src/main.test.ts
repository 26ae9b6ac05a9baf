import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { targetNames } from "./calls/targets.ts";
import { sectionNames } from "./sections.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const run = (...words: string[]) => promisify(execFile)(process.execPath, [main, ...words]);

test("--help names every part and every target", async () => {
  const { stdout } = await run("--help");
  for (const name of [...sectionNames, ...targetNames]) expect(stdout).toContain(name);
});

test("a mistyped word ends it with what can be given, before anything is measured", async () => {
  const failure = run("--only", "cals");
  await expect(failure).rejects.toMatchObject({
    code: 64,
    stdout: "",
    stderr: expect.stringMatching(
      /^--only takes one of calls, .*, not "cals"\.\n\nUsage: npm run bench/,
    ),
  });
});

test("a folder without a client is named, with what to give instead", async () => {
  const failure = run("--only", "calls", "--client", import.meta.dirname);
  await expect(failure).rejects.toMatchObject({
    stderr: expect.stringMatching(/There is no client in .*benchmarks\/src; name a checkout/),
  });
});
