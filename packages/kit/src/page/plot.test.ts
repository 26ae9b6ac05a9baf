import { expect, test } from "vitest";
import { barPlot, histogram, type Html } from "./index.ts";

function flat(piece: Html): string {
  return String(piece).replace(/\s+/g, " ");
}

test("a histogram has a bar for each step that has values, and a value at the edge is in the next one", () => {
  const x = { domain: [0, 1.1], label: "printed" } as const;
  const options = { title: "Kinds", x, step: 0.1, counted: "mails", height: 260 };
  const picture = flat(
    histogram(
      new Map([
        [1, 300],
        [0.3, 900],
        [0.35, 300],
      ]),
      options,
    ),
  );
  expect([...picture.matchAll(/<title>(.+?)<\/title>/g)].map(([, text]) => text)).toEqual([
    "0.30 to 0.40: 1,200",
    "1.00 to 1.10: 300",
  ]);
  expect(picture).toMatch(/<rect class="mark bar" x="\d+\.?\d*" y="10" [^>]*height="214"/);
  expect(picture).toContain(">1K</text>");
  expect(picture).toMatch(/<th scope="row" ?>1\.00 to 1\.10<\/th> <td class="number">300<\/td>/);
});

test("named counts are bars, the longest as long as there is room", () => {
  const counts = [
    { name: "<a>", count: 1200 },
    { name: "b", count: 300 },
  ];
  const options = { title: "Kinds", head: ["kind", "mails"] };
  const picture = flat(barPlot(counts, options, (count) => count.toLocaleString("en")));
  expect(picture).toContain('role="img" aria-label="Kinds"');
  expect(
    [...picture.matchAll(/class="mark bar"[^>]* width="([\d.]+%)"/g)].map(([, w]) => w),
  ).toEqual(["100.0%", "25.0%"]);
  expect(picture).toContain("<title>&lt;a&gt;: 1,200</title>");
  expect(picture).toMatch(/<th scope="row" ?>&lt;a&gt;<\/th> <td class="number">1,200<\/td>/);
});
