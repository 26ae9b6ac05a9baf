import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { packageVersion } from "./commands.ts";
import { temporaryFolder } from "./testing/test-context.ts";

test("the version is that of the nearest package.json that has one", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "a/b"), { recursive: true });
  await writeFile(join(folder, "package.json"), `{ "version": "1.2.3" }`);
  await writeFile(join(folder, "a/package.json"), `{ "type": "module" }`);
  const moduleUrl = pathToFileURL(join(folder, "a/b/main.js")).href;
  expect(packageVersion(moduleUrl)).toBe("1.2.3");
  await writeFile(join(folder, "a/b/package.json"), `{ "version": "4.5.6" }`);
  expect(packageVersion(moduleUrl)).toBe("4.5.6");
  expect(packageVersion("file:///nowhere.js")).toBe("unknown");
});
