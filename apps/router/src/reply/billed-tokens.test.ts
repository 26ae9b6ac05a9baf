import { expect, test } from "vitest";
import { billedTokens } from "./billed-tokens.ts";
import { noUsage } from "./usage.ts";

const parts = [{ type: "text" as const, text: "a".repeat(9) }];
const conversation = { messages: [{ role: "user" as const, parts }], tools: [], format: null };

test("without a report, the tokens are estimated, those of tools and images too", () => {
  const meter = { written: 1, reported: null };
  const text = billedTokens(meter, conversation);
  expect(text).toEqual({ usage: { ...noUsage, input: 5, output: 1 }, isEstimate: true });
  const description = "word ".repeat(1000);
  const tool = { name: "find", description, parameters: {}, providerOptions: {} };
  const withTool = { ...conversation, tools: [tool] as never };
  expect(billedTokens(meter, withTool).usage?.input).toBeGreaterThan(800);
  const image = { type: "image" as const, url: "data:image/png;base64,AAAA" };
  const shown = [{ role: "user" as const, parts: [...parts, image as never] }];
  const withImage = { ...conversation, messages: shown };
  expect(billedTokens(meter, withImage).usage?.input).toBeGreaterThanOrEqual(1600);
  const own = { ...meter, tokensPerFile: 36_000 };
  expect(billedTokens(own, withImage).usage?.input).toBeGreaterThanOrEqual(36_000);
});

test("the report of a whole reply is its tokens, and of another one at least those of its text", () => {
  const reported = { ...noUsage, input: 1, output: 1 };
  const meter = { written: 100, reported };
  expect(billedTokens(meter, conversation, { isWhole: true })).toEqual({
    usage: reported,
    isEstimate: false,
  });
  const usage = { ...reported, output: 100 };
  expect(billedTokens(meter, conversation)).toEqual({ usage, isEstimate: true });
  const known = { written: 4, reported: usage };
  expect(billedTokens(known, conversation)).toEqual({ usage, isEstimate: false });
});
