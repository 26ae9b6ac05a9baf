import { globSync } from "node:fs";
import { join } from "node:path";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";

const dist = join(import.meta.dirname, "../../docs/.vitepress/dist");
const site = "http://docs.example/";
const files = new Set(globSync("**/*.*", { cwd: dist }));

/** Opens a page of the built site without a network. */
async function open(path: string) {
  const page = await openSharedPage();
  await page.route("**/*", async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    const file = decodeURIComponent(pathname.slice(1));
    const isFound = `${origin}/` === site && files.has(file);
    await (isFound ? route.fulfill({ path: join(dist, file) }) : route.abort());
  });
  await page.context().setOffline(true);
  onTestFinished(async () => {
    await page.context().setOffline(false);
    await page.close();
  });
  await page.goto(site + path);
  return page;
}

// The guides, the READMEs and one page of each package's API; all others are made like them.
const pages = [...files].filter((file) => /^(?!404)(?:packages\/|api\/)?[\w-]+\.html$/.test(file));

test.each(pages)("axe finds nothing on %s", async (path) => {
  expect(await problemsOn(await open(path), { isOfSite: true })).toEqual([]);
});

test("the home page embeds the playground, which runs there in a sandbox", async () => {
  const page = await open("index.html");
  const frame = page.locator("iframe");
  expect(await frame.getAttribute("sandbox")).toBe("allow-scripts");
  const playground = page.frameLocator("iframe");
  await playground.getByRole("button", { name: "Run" }).click();
  const result = playground.getByLabel("Result");
  await expect.poll(() => result.textContent(), { timeout: 60_000 }).toMatch(/simulated[^]*act on/);
  expect(await playground.getByRole("link", { name: "Documentation" }).isVisible()).toBe(false);
});
