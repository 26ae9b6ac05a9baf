import { boolean } from "evaluator-client";
import { expect, test } from "vitest";
import { labelPage } from "./label-page.ts";
import { ownPage } from "./own-page.ts";

function pageOf(instructions: string): string {
  const sheet = { id: "refund", question: boolean(instructions), records: [{ id: "a" }] };
  return labelPage({
    program: "evaluator-cli",
    pages: [{ href: "./", name: "Label", isCurrent: true }],
    sheets: [sheet],
    sheet,
    saved: [undefined],
    record: { id: "a", at: 0, state: "My parcel is late." },
    nextCommand: "npx evaluator-cli calibrate",
  }).replace(/\s+/g, " ");
}

test("a server of pages has the icon that browsers request", async () => {
  const headers = { host: "localhost" };
  const icon = await ownPage().request("/favicon.ico", { headers });
  expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
});

test("the question is the heading, below the program's name", () => {
  const page = pageOf("Does the customer want the money back?");
  expect(page).toContain("<h1>Does the customer want the money back?</h1>");
  expect(page).toMatch(/evaluator-cli <\/span> <nav class="pages" aria-label="Pages">/);
});

test("a long question is cut in the heading, and whole below it", () => {
  const long = `Does the customer want the money back ${"or a new one ".repeat(6)}?`;
  const page = pageOf(long);
  const heading = /<h1>(.*?)<\/h1>/.exec(page)?.[1] ?? "";
  expect(heading).toBe(`${long.slice(0, 79)}…`);
  expect(page).toContain(`<p>${long}</p>`);
});
