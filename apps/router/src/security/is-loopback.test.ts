import { expect, test } from "vitest";
import { isLoopback } from "./is-loopback.ts";

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("%s stays on this machine", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "192.168.0.4", "127.0.0.1.example.com", "example.com", ""])(
  '"%s" may not',
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
