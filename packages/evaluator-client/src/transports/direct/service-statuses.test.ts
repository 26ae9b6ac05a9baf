import { expect, test } from "vitest";
import { askService } from "../../testing/ask-service.ts";
import { serviceFixtures } from "../../testing/service-fixtures.ts";
import { serviceRows, type ServiceName, services } from "./services.ts";

const words = "Something about the request.";

const outcomes: readonly [status: number, name: string, isRetryable: boolean][] = [
  [400, "StatusError", false],
  [401, "AuthenticationError", false],
  [402, "StatusError", false],
  [403, "AuthenticationError", false],
  [404, "StatusError", false],
  [413, "StatusError", false],
  [422, "StatusError", false],
  [429, "RateLimitError", true],
  [500, "StatusError", true],
  [502, "StatusError", true],
  [503, "StatusError", true],
  [504, "StatusError", true],
  [524, "StatusError", true],
  [529, "RateLimitError", true],
];

test.each(services)("%s: each status by its own body, and by a page", async (service) => {
  const { title } = serviceRows[service];
  for (const [status, name, isRetryable] of outcomes) {
    for (const body of [
      serviceFixtures[service].toError(status, words),
      "<html><body>Bad Gateway</body></html>",
      "",
    ]) {
      const { error } = await askService(service, { status, body });
      expect(error, `${status}`).toMatchObject({ name, status, isRetryable, attempts: 1 });
      expect(error?.message).toMatch(new RegExp(`^${title} answered ${status}\\b`));
      expect(error?.message).not.toMatch(/a letter|a-secret-key|<html>/);
      expect(error?.message.includes(words)).toBe(typeof body === "object");
    }
  }
});

const google = (retryDelay: string) => ({
  error: {
    code: 429,
    message: words,
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }],
  },
});

test.each(services)("%s: each header of a waiting time", async (service) => {
  const waits = [{ "retry-after": "7" }, { "retry-after-ms": "7000" }];
  for (const headers of waits) {
    const body = serviceFixtures[service].toError(429, words);
    const { error } = await askService(service, { status: 429, body, headers });
    expect(error).toMatchObject({ retryAfterMs: 7000, isRetryable: true });
  }
});

test("waiting times in bodies: Google's, and OpenRouter's", async () => {
  const waitOf = async (service: ServiceName, body: object) => {
    const { error } = await askService(service, { status: 429, body });
    return (error as { retryAfterMs?: number | null }).retryAfterMs;
  };
  expect(await waitOf("gemini", google("7s"))).toBe(7000);
  expect(await waitOf("gemini", google("0.5s"))).toBe(500);
  expect(await waitOf("gemini", google("soon"))).toBeNull();
  const metadata = (fields: object) => ({ error: { code: 429, message: words, metadata: fields } });
  expect(await waitOf("openrouter", metadata({ retry_after_seconds: 3 }))).toBe(3000);
  expect(await waitOf("openrouter", metadata({ retry_after_seconds: "soon" }))).toBeNull();
});
