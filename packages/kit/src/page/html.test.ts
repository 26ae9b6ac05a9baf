import { expect, test } from "vitest";
import { html, type Html } from "./index.ts";

test("what comes from outside is escaped, wherever it stands", () => {
  const hostile = `"><script>alert('x')</script>&\u202E\u0007`;
  const shown = String(html`<p title="${hostile}">${[hostile, 3, null, html`<b>${1}</b>`]}</p>`);
  expect(shown).toBe(
    '<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;3<b>1</b></p>',
  );
});

test("a piece of HTML may be of another package's copy of the class, and text is escaped", () => {
  class Copy {
    toString() {
      return "<b>&amp;</b>";
    }
  }
  const pieces = [new Copy() as Html, html`<i>${"<"}</i>`, "<u>", 1, null];
  expect(html`<p>${pieces}</p>`.toString()).toBe("<p><b>&amp;</b><i>&lt;</i>&lt;u&gt;1</p>");
});
