import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createPage, loadPage } from "./load-page.ts";

const document = '<style>a\nb</style><!-- engine --><script type="module">c</script>';

const quiet = { notice: "Answers come from a test.", isEmulated: false };

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

test("hashes the one style and the one script", async () => {
  const page = await createPage(document, quiet);
  expect(page).toMatchObject({ styleHash: sha256("a\nb"), scriptHash: sha256("c") });
});

test("hashes line ends as a browser does", async () => {
  const page = await createPage(document.replace("\n", "\r\n"), quiet);
  expect(page.styleHash).toBe(sha256("a\nb"));
});

test("the notice is text, whatever it holds", async () => {
  const notice = `<script>"$&"</script>`;
  const { html } = await createPage(document, { notice, isEmulated: true });
  expect(html).toContain(
    '<aside class="banner">&lt;script&gt;&quot;$&amp;&quot;&lt;/script&gt;</aside>',
  );
});

test("a page with a second script has no policy, and does not start", async () => {
  const twice = `${document}<script type="module">d</script>`;
  await expect(createPage(twice, quiet)).rejects.toThrow("not exactly one");
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
