import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startChild } from "./child.ts";
import { temporaryFolder } from "./test-context.ts";

interface TestService {
  [name: string]: (input: never) => unknown;
  double(number: number): number;
  fail(): void;
  end(): void;
  hang(): void;
}

const service = new URL("child.ts", import.meta.url).href;

async function startTestChild() {
  const folder = await temporaryFolder();
  const file = join(folder, "child.mjs");
  await writeFile(
    file,
    `import { serveParent } from ${JSON.stringify(service)};
     serveParent({
       double: (number) => number * 2,
       fail: () => { throw new Error("cannot do that"); },
       end: () => process.exit(0),
       hang: () => { for (;;); },
     });`,
  );
  const child = startChild<TestService>(pathToFileURL(file));
  onTestFinished(() => child.close());
  return child;
}

test("gives each asker the reply to what it asked", async () => {
  const child = await startTestChild();
  const replies = await Promise.all([child.ask("double", 1), child.ask("double", 21)]);
  expect(replies).toEqual([2, 42]);
});

test("a failure in the child is the asker's, in its words", async () => {
  const child = await startTestChild();
  await expect(child.ask("fail")).rejects.toThrow("cannot do that");
  expect(await child.ask("double", 2)).toBe(4);
});

test("a child that ends by itself leaves nobody waiting", async () => {
  const child = await startTestChild();
  await expect(child.ask("end")).rejects.toThrow("ended by itself");
  await expect(child.ask("double", 2)).rejects.toThrow("closed");
});

test("a child that hangs can be ended, and whoever waits for it is told", async () => {
  const child = await startTestChild();
  expect(await child.ask("double", 1)).toBe(2);
  const asked = child.ask("hang");
  child.kill();
  await expect(asked).rejects.toThrow("ended by itself");
});
