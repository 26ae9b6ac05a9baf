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

test("the README names the company of each decision service, and the gateway first", () => {
  const [, named = ""] = /^The gateway is the default\. (.+?)\n\n/ms.exec(read("README.md")) ?? [];
  for (const name of services) expect(named).toContain(serviceRows[name].title);
});

test("the row of a service has at most 15 lines", () => {
  const source = read("packages/evaluator-client/src/transports/direct/services.ts");
  const rows = [...source.matchAll(/^ {2}"?([a-z-]+)"?: \{\n.*?^ {2}\},\n/gms)];
  expect(rows.map(([, name]) => name)).toEqual(services);
  const lines = rows.map(([row]) => row.trimEnd().split("\n").length);
  expect(Math.max(...lines)).toBeLessThanOrEqual(15);
});

test("the page names the versions of the SDKs that are tested", () => {
  const { dependencies } = JSON.parse(read("tests/clients/package.json")) as {
    dependencies: Record<string, string>;
  };
  for (const name of ["@typesafe-ai/sdk", "openai", "@google/genai", "@openrouter/sdk"])
    expect(docs).toContain(`\`${name}\` ${dependencies[name]}`);
});
