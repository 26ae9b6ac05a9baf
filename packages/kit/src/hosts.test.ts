import { expect, test } from "vitest";
import { isForeignRequest, isLoopbackHost, toHostname } from "./listen.ts";

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("%s stays on this machine", (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "192.168.0.4", "127.0.0.1.example.com", "example.com", ""])(
  '"%s" may not',
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);

test("an IPv6 address stands in brackets in a URL", () => {
  expect(["::1", "127.0.0.1"].map(toHostname)).toEqual(["[::1]", "127.0.0.1"]);
});

test.each([
  { host: "127.0.0.1:8787" },
  { host: "localhost" },
  { host: "LOCALHOST:80" },
  { host: "[::1]:8787" },
  { host: "app.localhost:3000" },
  { host: "127.0.0.1:8787", origin: "http://localhost:5173" },
  { host: "127.0.0.1:8787", origin: "http://[::1]:5173" },
])("%j comes from this machine", (source) => {
  expect(isForeignRequest(source)).toBe(false);
});

test.each([
  { host: "example.com" },
  { host: "127.0.0.1.example.com:8787" },
  { host: "localhost.example.com" },
  { host: "" },
  { host: undefined },
  { host: "[::1" },
  { host: "127.0.0.1:8787", origin: "https://example.com" },
  { host: "127.0.0.1:8787", origin: "null" },
  { host: "127.0.0.1:8787", origin: "" },
  { host: "127.0.0.1:8787", origin: "http://localhost.example.com" },
])("%j is a foreign page's", (source) => {
  expect(isForeignRequest(source)).toBe(true);
});
