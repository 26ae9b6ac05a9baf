import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createPage, loadPage } from "./load-page.ts";

const document = '<style>a\nb</style><!-- banner --><script type="module">c</script>';

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

test("hashes the one style and the one script", async () => {
  const page = await createPage(document, { banner: null });
  expect(page).toMatchObject({ styleHash: sha256("a\nb"), scriptHash: sha256("c") });
  expect(page.html).not.toContain("banner");
});

test("hashes line ends as a browser does", async () => {
  const page = await createPage(document.replace("\n", "\r\n"), { banner: null });
  expect(page.styleHash).toBe(sha256("a\nb"));
});

test("the banner is text, whatever it holds", async () => {
  const { html } = await createPage(document, { banner: `<script>"$&"</script>` });
  expect(html).toContain(
    '<aside class="banner">&lt;script&gt;&quot;$&amp;&quot;&lt;/script&gt;</aside>',
  );
});

test("a page with a second script has no policy, and does not start", async () => {
  const twice = `${document}<script type="module">d</script>`;
  await expect(createPage(twice, { banner: null })).rejects.toThrow("not exactly one");
});

test("the router's page shows the banner where it belongs", async () => {
  const { html } = await loadPage({ banner: "Answers come from a test." });
  expect(html).toMatch(/<\/header>\s*<aside class="banner">Answers come from a test\.<\/aside>/);
});
