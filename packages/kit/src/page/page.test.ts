import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../testing/test-context.ts";
import {
  band,
  curve,
  dot,
  html,
  type Html,
  page,
  pageAround,
  plot,
  points,
  reportsBeside,
  sourceHash,
  table,
  trusted,
  iconFile,
  pageIcon,
} from "./index.ts";

const around = { tool: "A tool", pages: [], heading: "<Mails>" };

test("a page is one file that fetches and runs nothing", () => {
  const text = page({ ...around, body: html`<p>${"a"}</p>` });
  expect(text).toContain("<title>&lt;Mails&gt;</title>");
  expect(text).toContain("<h1>&lt;Mails&gt;</h1>");
  expect(text).toContain("default-src 'none'; style-src 'unsafe-inline'");
  expect(text).not.toMatch(/<script|<link (?!rel="icon" href="data:)|src=|url\(/);
  expect(text).toMatch(/--paper: light-dark\([^]*body > header \{/);
});

test("the icon of a page and the one of a server are the same picture", () => {
  const [svg, , headers] = iconFile();
  expect(headers["Content-Type"]).toBe("image/svg+xml");
  const [, inPage = ""] =
    /href="data:image\/svg\+xml,([^"#<>]+)"/.exec(pageIcon().toString()) ?? [];
  expect(decodeURIComponent(inPage)).toBe(svg);
});

test("a number and its percent sign are on one line, and data is left alone", () => {
  const data = trusted('<script type="application/json">{"id":"5 % off"}</script>');
  const body = html`<p title="${"5 % off"}">${'5 % "off"'}</p>`;
  const text = page({ ...around, body, data });
  expect(text).toContain('<p title="5 % off">5\u00A0% &quot;off&quot;</p>');
  expect(text).toContain('"5 % off"}');
});

test("the time of a long text of percent signs does not grow with its square", async () => {
  const program = `
    import { html, page } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
    const body = html\`<p>\${"1 % ".repeat(250_000)}</p>\`;
    console.log(page({ tool: "", pages: [], heading: "", body }).split("1\\u00A0% ").length);
  `;
  // Ended from outside: the square takes minutes.
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    timeout: 15_000,
  });
  expect((await run).stdout).toBe("250001\n");
}, 20_000);

test("a page names its tool, the pages beside it and its parts", () => {
  const pages = [
    { href: "a%20b.html", name: "a b", isCurrent: true },
    { href: "c.html", name: "c" },
  ];
  const contents = [
    { href: "#one", name: "One", count: "3" },
    { href: "#two", name: "Two" },
  ];
  const text = flat(trusted(page({ ...around, pages, contents, body: html`<p>a</p>` })));
  expect(text).toMatch(
    /<nav class="pages" aria-label="Pages"><a href="a%20b.html" aria-current="page" ?>a b<\/a ?> <a href="c.html" ?>c<\/a/,
  );
  expect(text).toMatch(
    /<nav class="contents" aria-label="Contents"><a href="#one" ?>One <b>3<\/b><\/a ?> <a href="#two" ?>Two<\/a/,
  );
  const short = page({ ...around, contents: contents.slice(1), body: html`<p>a</p>` });
  expect(short).not.toContain("<nav");
});

test("a script runs in a page when its policy names it, and is behind all of the body", () => {
  const script = "const a = 1 < 2;";
  const data = html`<p>data</p>`;
  const [before, after] = pageAround({ ...around, body: html`<p>a</p>`, data, script });
  expect(before).toContain(
    `script-src '${sourceHash(script)}'; base-uri 'none'; form-action 'none'`,
  );
  expect(before).toMatch(/<p>data<\/p>\s*$/);
  expect(after).toMatch(/^<script>const a = 1 < 2;<\/script>\s*<\/body>/);
});

test("a report links to itself and to the reports of its folder", async () => {
  const folder = await temporaryFolder();
  const other = join(folder, "my calibration", "report.html");
  await mkdir(dirname(other));
  await mkdir(join(folder, "empty"));
  for (const path of [other, join(folder, "in.triage.html"), join(folder, "foreign.html")]) {
    await writeFile(path, "");
  }
  const own = { href: "report.html", name: "new", isCurrent: true };
  expect(await reportsBeside(join(folder, "new", "report.html"))).toEqual([
    { href: "../in.triage.html", name: "in.triage", isCurrent: false },
    { href: "../my%20calibration/report.html", name: "my calibration", isCurrent: false },
    own,
  ]);
  expect(await reportsBeside(join(folder, "in.triage.html"))).toEqual([
    { href: "in.triage.html", name: "in.triage", isCurrent: true },
    { href: "my%20calibration/report.html", name: "my calibration", isCurrent: false },
  ]);
  expect(await reportsBeside(join(folder, "gone", "new", "report.html"))).toEqual([own]);
});

const axes = {
  title: "A picture",
  x: { domain: [0, 1], label: "printed" },
  y: { domain: [0, 10], label: "rows", format: (value: number) => `${value} rows` },
  height: 300,
  head: ["printed", "rows"],
  rows: [["0.5", "<3>"]],
} as const;

test("a plot has its axes, puts values where they belong, and has its rows behind it", () => {
  const places: number[] = [];
  const keys = [["guide", "<as printed>"]] as const;
  const picture = flat(
    plot({ ...axes, keys }, ({ x, y }) => {
      places.push(x(0), x(1), y(0), y(10));
      return null;
    }),
  );
  expect(places).toEqual([56, 418, 264, 10]);
  expect(picture).toContain('role="img" aria-label="A picture"');
  expect(picture).toContain(">10 rows</text>");
  expect(picture).toContain(">printed</text>");
  expect(picture).toMatch(/<g class="guide">.*&lt;as printed&gt;/);
  expect(picture).toMatch(/<summary>Rows<\/summary>.*&lt;3&gt;.*<\/details>\s*<\/figure>$/);
});

test("marks are paths between the places of their values, each with its words", () => {
  const title = "<mark>";
  const picture = flat(
    plot(axes, (scales) => [
      band(
        [
          { x: 0, low: 0, high: 10 },
          { x: 1, low: 0, high: 10 },
        ],
        scales,
        title,
      ),
      curve(
        [
          { x: 0, y: 0 },
          { x: 1, y: 10 },
        ],
        scales,
        { title },
      ),
      dot({ x: 1, y: 10, title }, scales),
      dot({ x: 1, y: 10, title }, scales, { isOutside: true }),
      points([{ x: 1, y: 10, title }], scales),
    ]),
  );
  expect(picture).toContain('class="mark band" d="M56,10L418,10L418,264L56,264Z"');
  expect(picture).toContain('class="mark curve" d="M56,264L418,10"');
  expect(picture).toContain('<circle class="mark point" cx="418" cy="10" r="3.5"');
  expect(picture.match(/class="mark [^>]*> ?<title>&lt;mark&gt;<\/title>/g)).toHaveLength(5);
  const [circle, triangle] =
    picture.match(/class="mark dot[^/]*translate\(418 10\)" d="([^"]+)"/g) ?? [];
  expect(circle).not.toBe(triangle);
  expect(triangle).toContain("dot outside");
});

test("an axis of times has days as its ticks, in UTC wherever the reader is", () => {
  const domain = [Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 11)] as const;
  const picture = flat(plot({ ...axes, x: { domain, label: "", isTime: true } }, () => null));
  const ticks = [...picture.matchAll(/text-anchor="middle"> ?([^<]+?) ?</g)].map(
    ([, text]) => text,
  );
  expect(ticks).toEqual(["Mon 02", "Wed 04", "Fri 06", "Mar 08", "Tue 10"]);
});

test("a table has a name and a head, names its rows, and is scrolled with the keyboard as well", () => {
  const rows = [
    ["<a>", "1", "left"],
    ["b".repeat(41), "3 %", "right"],
  ];
  const shown = flat(table("Ways", ["way", "cost", "side"], rows)).replace(/> </g, "><");
  expect(shown).toContain(
    '<div class="scroll" tabindex="0" role="region" aria-label="Ways"><table class="table">',
  );
  expect(shown).toMatch(/<th scope="col" ?>way<\/th><th scope="col" class="number" ?>cost<\/th>/);
  expect(shown).toMatch(
    /<tr><th scope="row" ?>&lt;a&gt;<\/th><td class="number">1<\/td><td ?>left<\/td><\/tr>/,
  );
  expect(shown).toContain('<th scope="row" class="text">bbb');
});

test.each([
  ["1,234.5", true],
  ["$0.0012", true],
  ["−3 %", true],
  ["✗ 0.0123", true],
  ["0.81 (0.7 to 0.9)", true],
  ["12 ms", true],
  ["10 % to 56 %", true],
  ["0.14 to 0.16", true],
  ["2026-11-02", false],
  ["yes ≥ 0.83", false],
  ["3 of 4", false],
])("the cell %j is a number: %s", (cell, isNumber) => {
  const shown = flat(
    table(
      "A",
      ["a", "b"],
      [
        ["a", cell],
        ["b", "word"],
        ["c", "word"],
      ],
    ),
  );
  expect(shown.includes('<td class="number">')).toBe(isNumber);
});

test("only a long text is broken into lines", () => {
  const rows = [
    ["a", "local/a-model-of-many-words-and-hyphens"],
    ["b", "word ".repeat(9)],
  ];
  const shown = flat(table("A", ["a", "b"], rows));
  expect(shown.match(/<td class="text">[^<]*/g)).toEqual([`<td class="text">${"word ".repeat(9)}`]);
});

test("a column of mostly numbers is at the right, with its words", () => {
  const shown = flat(
    table(
      "A",
      ["a", "b"],
      [
        ["a", "1"],
        ["b", "none"],
      ],
    ),
  );
  expect(shown.match(/<td class="number">/g)).toHaveLength(2);
  expect(flat(table("A", ["a", "b"], [["a", "–"]]))).not.toContain("number");
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
