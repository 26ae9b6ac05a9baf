import { UsageError } from "evaluator-cli-kit";
import { expect, test } from "vitest";
import { selfCheckOptions } from "./run-self-check.ts";

const env = { AI_GATEWAY_API_KEY: "key" };

test("the emulator answers unless --live is given, key or no key", () => {
  expect(selfCheckOptions([], env).gateway).toBeNull();
  expect(selfCheckOptions(["--live"], env).gateway).toMatchObject({ apiKey: "key" });
});

test("--live without a key says what to set", () => {
  expect(() => selfCheckOptions(["--live"], {})).toThrow("set AI_GATEWAY_API_KEY, or leave out");
});

test.each([["--life"], ["now"], ["--live=yes"]])("%s shows the usage", (word) => {
  expect(() => selfCheckOptions([word], {})).toThrow(UsageError);
});
