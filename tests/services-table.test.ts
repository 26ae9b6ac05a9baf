import { readFileSync } from "node:fs";
import { serviceRows, services } from "evaluator-client";
import { expect, test } from "vitest";

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const docs = read("docs/engines.md");
const cells = (line: string) => line.split("|").map((cell) => cell.trim());

test("the page of engines has each decision service as its row has it", () => {
  const rows = docs.split("\n").filter((line) => /^\| `[a-z-]+` +\| `[A-Z_]+`/.test(line));
  expect(rows.map((line) => cells(line)[1])).toEqual(services.map((name) => `\`${name}\``));
  for (const [index, name] of services.entries()) {
    const { keyVariables, model, most, fewest = 1 } = serviceRows[name];
    const [, , key, usual, questions, options, levels] = cells(rows[index] ?? "");
    expect(key).toContain(`\`${keyVariables[0]}\``);
    expect(usual).toContain(model ?? "none");
    const range = (count: number) => `${fewest > 1 ? `${fewest} ` : ""}to ${count}`;
    expect([options, levels]).toEqual([range(most.options), range(most.levels)]);
    const asked = most.questions?.toLocaleString("en");
    expect(questions).toBe(asked === undefined ? "" : `to ${asked}`);
  }
});

test("the page names the versions of the SDKs that are tested", () => {
  const { dependencies } = JSON.parse(read("tests/clients/package.json")) as {
    dependencies: Record<string, string>;
  };
  for (const name of ["@typesafe-ai/sdk", "openai", "@google/genai", "@openrouter/sdk"])
    expect(docs).toContain(`\`${name}\` ${dependencies[name]}`);
});
