import { expect, test } from "vitest";
import { startHttp } from "../testing/start-mcp.ts";

/** The headers that the protocol asks for. */
const ofProtocol = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

test.each([
  ["another site's page", { origin: "https://evil.example" }, "POST", 403],
  ["a name that leads here by DNS", { host: "evil.example" }, "POST", 403],
  ["a stream that there is not", {}, "GET", 405],
  ["no JSON", ofProtocol, "POST", 400],
] as const)("over HTTP %s is refused", async (_what, headers, method, status) => {
  const url = new URL(await startHttp(["--engine", "gateway=http://127.0.0.1:9/v4/ai"]));
  const { request } = await import("node:http");
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const sent = request(url, { method, headers }, (response) =>
    resolve(response.resume().statusCode),
  );
  sent.end(method === "POST" ? "{" : undefined);
  expect(await promise).toBe(status);
});

test("a message of 4 MiB is read, and one more byte is refused with the limit", async () => {
  const url = await startHttp(["--engine", "gateway=http://127.0.0.1:9/v4/ai"]);
  const post = (bytes: number) =>
    fetch(url, { method: "POST", headers: ofProtocol, body: `[${" ".repeat(bytes - 2)}]` });
  const limit = 4 * 1024 * 1024;
  const refused = await post(limit + 1);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    error: { message: "Payload Too Large: Request body must not exceed 4194304 bytes" },
  });
  expect((await post(limit)).status).not.toBe(413);
});
