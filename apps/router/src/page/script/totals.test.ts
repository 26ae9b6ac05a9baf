import { expect, test } from "vitest";
import { createSession } from "./session.ts";

const response = {
  tier: "nano",
  model: "a/nano",
  probabilities: { nano: 1, fast: 0, balanced: 0, frontier: 0 },
  confidence: 1,
  jevMs: 1,
  replyMs: 1,
  replyError: null,
  usage: { inputTokens: 600, outputTokens: 634, totalTokens: 1234 },
} as const;

test("adds up replies, tokens, costs and the savings", () => {
  const session = createSession();
  session.add(response, { paid: 0.001, frontier: 0.05 });
  expect(session.describe()).toBe(
    "This page: 1 reply, 1,234 tokens, $0.001; on the frontier tier $0.05: $0.049 saved.",
  );
  session.add({ ...response, usage: null }, { paid: 0.1, frontier: 0.05 });
  expect(session.describe()).toBe(
    "This page: 2 replies, 1,234 tokens, $0.101; on the frontier tier $0.1: $0.001 more.",
  );
});

test("sums are printed as precisely as their difference", () => {
  const session = createSession();
  session.add(response, { paid: 0.0020064, frontier: 0.002 });
  expect(session.describe()).toContain("$0.0020064; on the frontier tier $0.002: $0.0000064 more.");
});

test("unknown tokens are not zero", () => {
  const session = createSession();
  session.add({ ...response, usage: null }, { paid: null, frontier: null });
  expect(session.describe()).toBe("This page: 1 reply, ? tokens, cost unknown.");
});

test("an unknown cost is not a saving", () => {
  const session = createSession();
  session.add(response, { paid: null, frontier: 0.05 });
  expect(session.describe()).toBe("This page: 1 reply, 1,234 tokens, cost unknown.");
});
