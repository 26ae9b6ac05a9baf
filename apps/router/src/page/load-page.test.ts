import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { loadPage } from "./load-page.ts";

const source = '<style>a\nb</style><!-- engine --><script type="module">c</script>';

const quiet = { notice: "Answers come from a test.", isEmulated: false };

function pageOf(document: string) {
  return loadPage(quiet, Promise.resolve(document));
}

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

test("hashes the one style and the one script", async () => {
  const page = await pageOf(source);
  expect(page).toMatchObject({ styleHash: sha256("a\nb"), scriptHash: sha256("c") });
});

test("hashes line ends as a browser does", async () => {
  const page = await pageOf(source.replace("\n", "\r\n"));
  expect(page.styleHash).toBe(sha256("a\nb"));
});

test("the notice is text, whatever it holds", async () => {
  const notice = `<script>"$&"</script>`;
  const { html } = await loadPage({ notice, isEmulated: true }, Promise.resolve(source));
  expect(html).toContain(
    '<aside class="banner">&lt;script&gt;&quot;$&amp;&quot;&lt;/script&gt;</aside>',
  );
});

test("a page with a second script has no policy, and does not start", async () => {
  const twice = `${source}<script type="module">d</script>`;
  await expect(pageOf(twice)).rejects.toThrow("not exactly one");
});

test.each([
  ["banner", true],
  ["engine", false],
])("the router's page says who answers where it belongs, as %s", async (name, isEmulated) => {
  const { html } = await loadPage({ ...quiet, isEmulated });
  expect(html).toMatch(
    new RegExp(`</header>\\s*<aside class="${name}">Answers come from a test\\.</aside>`),
  );
});
