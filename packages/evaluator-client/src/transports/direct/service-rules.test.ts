import { expect, test } from "vitest";
import { boolean, choice, type Questions, score } from "../../questions/kinds.ts";
import { askService } from "../../testing/ask-service.ts";
import type { ServiceName } from "./services.ts";

const many = (count: number, question: () => Questions[string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, question()]));
const options = (count: number) =>
  choice(
    "Which?",
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${i}`, "an option"])),
  );
const levels = (count: number) =>
  score(
    "How?",
    Array.from({ length: count }, (_, i) => `level ${i}`),
  );

test.each<[ServiceName, Questions, string]>([
  [
    "openai",
    many(401, () => boolean("Is it?")),
    "401 questions are more than OpenAI takes in one call, which is 400; ask 400 of them in one call and the rest in another.",
  ],
  ["cloudflare", many(65, () => boolean("Is it?")), "Cloudflare takes in one call, which is 64"],
  ["perplexity", many(129, () => boolean("Is it?")), "Perplexity takes in one call, which is 128"],
  ["gemini", many(1001, () => boolean("Is it?")), "Google takes in one call, which is 1000"],
  [
    "fireworks",
    { a: options(209) },
    'The question "a" has 209 options, and Fireworks takes at most 208; ask with fewer.',
  ],
  ["openai", { a: options(1) }, "has 1 option, and OpenAI takes at least 2; add one"],
  ["typesafe", { a: levels(11) }, "has 11 levels, and TypeSafe takes at most 10; ask with fewer"],
  ["gemini", { a: levels(256) }, "Google takes at most 255"],
  [
    "gemini",
    { a: choice("Which?", { a: "", b: "b" }) },
    "has an empty description, and Google requires one",
  ],
  [
    "gemini",
    { a: choice("Which?", { " a": "a", b: "b" }) },
    'has the option " a", and Google takes no empty name',
  ],
  [
    "openrouter",
    { a: boolean("Is it?", { true: "yes" }) },
    "describes one side only, and OpenRouter requires both",
  ],
])("%s is not asked what it does not take", async (service, asked, message) => {
  const { sent, error } = await askService(service, {}, { asked });
  expect(sent).toEqual([]);
  expect(error).toMatchObject({ name: "InvalidRequestError", attempts: 0 });
  expect(error?.message).toContain(message);
});

test("Google takes 255 levels without further options", async () => {
  const asked = { a: levels(255) };
  const { sent } = await askService("gemini", {}, { asked });
  expect(sent).toHaveLength(1);
});
