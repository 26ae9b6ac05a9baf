import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// The script runs in a browser, so its types are another program than the router's.
test("the page's script has no type errors", async () => {
  const project = join(import.meta.dirname, "script");
  const run = promisify(execFile)("npm", ["exec", "--", "tsc", "-p", project]);
  const failure = await run.then(
    () => null,
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(failure).toBeNull();
});
