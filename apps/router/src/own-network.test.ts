import { expect, test } from "vitest";
import { isOwnNetwork } from "./own-network.ts";

test.each([
  ["http://localhost:1234/v1", true],
  ["http://127.1.2.3", true],
  ["http://0x7f000001", true],
  ["http://[::1]:80", true],
  ["http://[fd00::1]", true],
  ["http://[fe80::1]", true],
  ["http://[::ffff:192.168.1.5]", true],
  ["http://192.168.1.5/cam.jpg", true],
  ["http://172.31.0.1", true],
  ["http://172.32.0.1", false],
  ["http://100.64.0.1", true],
  ["http://169.254.169.254", true],
  ["http://ollama:11434", true],
  ["http://nas.local.", true],
  ["http://a.home.arpa", true],
  ["http://HOST.LAN", true],
  ["https://example.com", false],
  ["https://8.8.8.8", false],
  ["http://[2001:db8::1]", false],
  ["http://local.example.com", false],
  ["no address", false],
])("%s: %s", (url, isOwn) => {
  expect(isOwnNetwork(URL.parse(url))).toBe(isOwn);
});
