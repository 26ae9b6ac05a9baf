import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluationForms } from "../evaluations/evaluation-forms.ts";
import { passedHeaders } from "../reply/passed-events.ts";
import { keyHeaders } from "../routes/client-request.ts";
import { apis } from "./apis.ts";

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
const rows = readme.split("\n").filter((line) => line.startsWith("|"));

/** Returns the code of the first cells that match, without the method. */
function codeOf(start: RegExp): string[] {
  const cells = rows.map((row) => row.split("|")[1] ?? "").filter((cell) => start.test(cell));
  return cells.flatMap((cell) =>
    Array.from(cell.matchAll(/`(?:POST )?([^`]+)`/g), ([, code = ""]) => code),
  );
}

test("the README's table has a row for each API and each form of typed questions", () => {
  const counts = apis.flatMap(({ count }) => count?.path ?? []);
  const paths = [...apis, ...evaluationForms].map(({ path }) => path);
  expect(codeOf(/`POST \/v\d/).toSorted()).toEqual([...paths, ...counts].toSorted());
});

test("the README names the header of a client's API at the model list", () => {
  const models = rows.find((row) => row.startsWith("| `GET /v1/models`")) ?? "";
  const ownHeaders = apis.flatMap(({ ownHeader }) => ownHeader ?? []);
  expect(ownHeaders.filter((header) => !models.includes(`\`${header}\``))).toEqual([]);
});

test("no header with a client's key is passed to a service", () => {
  expect([...keyHeaders, "authorization"].filter((name) => passedHeaders.has(name))).toEqual([]);
});

test("each API has its own path, and its own name in the log", () => {
  for (const field of ["path", "name"] as const) {
    expect(new Set(apis.map((api) => api[field])).size).toBe(apis.length);
  }
});
