import { expect, test } from "vitest";
import { allowedHosts } from "./guards.ts";

test("the names of this machine are allowed, with the port that is listened on", () => {
  expect([...allowedHosts("127.0.0.1", 3000)]).toEqual([
    "localhost:3000",
    "127.0.0.1:3000",
    "[::1]:3000",
  ]);
});

test("another loopback address that was configured is allowed too", () => {
  expect(allowedHosts("127.0.0.2", 3000)).toContain("127.0.0.2:3000");
});

test("on port 80, the port may be left out", () => {
  const hosts = allowedHosts("::1", 80);
  expect(hosts).toContain("[::1]");
  expect(hosts).toContain("[::1]:80");
});
