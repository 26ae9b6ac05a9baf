import { expect, test } from "vitest";
import {
  band,
  barList,
  bars,
  curve,
  dot,
  html,
  type Html,
  name,
  page,
  pageAround,
  plot,
  points,
  sourceHash,
  table,
  trusted,
} from "./index.ts";

test("what comes from outside is escaped, wherever it stands", () => {
  const hostile = `"><script>alert('x')</script>&\u202E\u0007`;
  const shown = String(html`<p title="${hostile}">${[hostile, 3, null, html`<b>${1}</b>`]}</p>`);
  expect(shown).toBe(
    '<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;3<b>1</b></p>',
  );
});

test("a page is one file that fetches and runs nothing", () => {
  const text = page({ title: "<Mails>", style: "b { top: 0 }", body: html`<h1>${"a"}</h1>` });
  expect(text).toContain("<title>&lt;Mails&gt;</title>");
  expect(text).toContain("default-src 'none'; style-src 'unsafe-inline'");
  expect(text).not.toMatch(/<script|<link|src=|url\(/);
  expect(text).toContain("b { top: 0 }");
});

test("a script runs in a page when its policy names it, and stands behind all of the body", () => {
  const script = "const a = 1 < 2;";
  const [before, after] = pageAround({ title: "t", style: "", body: html`<p>a</p>`, script });
  expect(before).toContain(
    `script-src '${sourceHash(script)}'; base-uri 'none'; form-action 'none'`,
  );
  expect(before).toMatch(/<p>a<\/p>\s*$/);
  expect(after).toMatch(/^<script>const a = 1 < 2;<\/script>\s*<\/body>/);
});

const axes = {
  title: "A picture",
  x: { domain: [0, 1], label: "printed" },
  y: { domain: [0, 10], label: "rows", format: (value: number) => `${value} rows` },
} as const;

test("a plot has its axes, and puts values where they belong", () => {
  const places: number[] = [];
  const picture = flat(
    plot(axes, ({ x, y }) => {
      places.push(x(0), x(1), y(0), y(10));
      return null;
    }),
  );
  expect(places).toEqual([56, 418, 264, 10]);
  expect(picture).toContain('aria-label="A picture"');
  expect(picture).toContain(">10 rows</text>");
  expect(picture).toContain(">printed</text>");
});

test("marks are paths between the places of their values", () => {
  const picture = flat(
    plot(axes, (scales) => [
      band(
        [
          { x: 0, low: 0, high: 10 },
          { x: 1, low: 0, high: 10 },
        ],
        scales,
      ),
      curve(
        [
          { x: 0, y: 0 },
          { x: 1, y: 10 },
        ],
        scales,
        "curve",
      ),
      bars([{ from: 0, to: 0.5, count: 10 }], scales),
      dot({ x: 1, y: 10 }, scales),
      dot({ x: 1, y: 10 }, scales, { isOutside: true }),
      name("best", { x: 0, y: 0 }, scales),
    ]),
  );
  expect(picture).toContain('class="band" d="M56,10L418,10L418,264L56,264Z"');
  expect(picture).toContain('class="curve" d="M56,264L418,10"');
  expect(picture).toContain('<rect class="bar" x="56" y="10" width="180.5" height="254" />');
  const [circle, triangle] =
    picture.match(/class="dot[^/]*translate\(418 10\)" d="([^"]+)"/g) ?? [];
  expect(circle).not.toBe(triangle);
  expect(triangle).toContain("dot outside");
});

test("a point is a dot at its place", () => {
  const picture = flat(plot(axes, (scales) => points([{ x: 1, y: 10 }], scales)));
  expect(picture).toContain('<circle class="point" cx="418" cy="10" r="3.5" />');
});

test("an axis of times has days as its ticks, in UTC wherever the reader is", () => {
  const domain = [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 11)] as const;
  const picture = flat(plot({ ...axes, x: { domain, label: "", isTime: true } }, () => null));
  const ticks = [...picture.matchAll(/text-anchor="middle">([^<]+)</g)].map(([, text]) => text);
  expect(ticks).toEqual(["Mon 02", "Wed 04", "Fri 06", "Mar 08", "Tue 10"]);
});

test("named counts are bars, the longest as long as there is room", () => {
  const counts = [
    { name: "<a>", count: 1200 },
    { name: "b", count: 300 },
  ];
  const list = flat(barList(counts, (count) => count.toLocaleString("en")));
  expect(list).toContain('<span class="bar-name">&lt;a&gt;</span');
  expect([...list.matchAll(/width:([\d.]+%)/g)].map(([, width]) => width)).toEqual([
    "100.0%",
    "25.0%",
  ]);
  expect(list).toContain('<span class="bar-count">1,200</span>');
});

test("a table has a head and names its rows, and is scrolled with the keyboard as well", () => {
  const rows = [
    ["<a>", "1", "2"],
    ["b", "3", "4"],
  ];
  const shown = flat(table(["way", "quality", "cost"], rows)).replace(/> </g, "><");
  expect(shown).toContain('<div class="scroll" tabindex="0"><table class="table">');
  expect(shown).toContain('<thead><tr><th scope="col">way</th><th scope="col">quality</th>');
  expect(shown).toContain('<tr><th scope="row">&lt;a&gt;</th><td>1</td><td>2</td></tr>');
  expect(shown).toContain('<tr><th scope="row">b</th><td>3</td><td>4</td></tr>');
});

test("a style sheet passes as it is", () => {
  expect(
    flat(
      html`<style>
        ${trusted("a > b {}")}
      </style>`,
    ),
  ).toContain("a > b {}");
});

/** HTML with every run of white space as one space. */
function flat(piece: Html): string {
  return String(piece).replace(/\s+/g, " ");
}
