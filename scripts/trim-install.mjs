// Runs after `npm ci`, on whatever Node is there. Deletes what npm installs and nothing here opens:
// Node's C headers, packages for the Bare runtime, Playwright's viewers. Together about 75 MB.
import { existsSync, readdirSync, rmSync } from "node:fs";

const modules = new URL("../node_modules/", import.meta.url);
const filesIn = (folder, pattern) => {
  const url = new URL(folder, modules);
  const names = existsSync(url) ? readdirSync(url) : [];
  return names.filter((name) => pattern.test(name)).map((name) => folder + name);
};

const unopened = [
  ...filesIn("node/node_modules/", /^node-(?:linux|darwin)-/).flatMap((node) => [
    `${node}/include`,
    `${node}/CHANGELOG.md`,
  ]),
  ...filesIn("", /^bare-/),
  ...filesIn("playwright-core/lib/vite/", /^(?:dashboard|recorder|traceViewer)$/),
];
for (const file of unopened) rmSync(new URL(file, modules), { recursive: true, force: true });
