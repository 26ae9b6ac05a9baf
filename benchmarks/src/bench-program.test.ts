import { expect, test } from "vitest";
import { createTestContext } from "evaluator-kit/testing";
import { benchProgram } from "./bench-program.ts";
import { targets } from "./targets.ts";

async function parse(words: readonly string[], cwd: string) {
  let parsed: unknown;
  const program = benchProgram(async (options) => void (parsed = options));
  await program(words, createTestContext({ cwd }));
  return parsed;
}

test("nothing given means a short run of everything", async () => {
  expect(await parse([], "/")).toEqual({
    only: ["calls", "doors", "router", "serverless", "stream", "triage"],
    targets: Object.keys(targets),
  });
});

test("parts and targets are run in their own order", async () => {
  const words = ["--only", "stream, calls", "--targets", "ai,undici"];
  expect(await parse(words, "/")).toMatchObject({
    only: ["calls", "stream"],
    targets: ["undici", "ai"],
  });
});

test("paths are relative to where the person is", async () => {
  const given = await parse(["--against", "../b"], "/somewhere/here");
  expect(given).toMatchObject({ against: "/somewhere/b" });
});

test.each([
  [["--only", "call"], /argument 'call' is invalid. Use some of calls, .*router/],
  [["--targets", ""], /argument '' is invalid. Use some of undici, dispatch, /],
  [["--fast"], /^Unknown option '--fast'/],
  [["calls"], /^Too many arguments/],
])("refuses %j", async (words, message) => {
  await expect(parse(words, "/")).rejects.toThrow(message);
});
