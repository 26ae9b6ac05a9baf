import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { selfSignedCertificate } from "./certificate.ts";

test("a certificate is for this machine, for a year, and vouches for itself", () => {
  const nowMs = Date.UTC(2026, 10, 22, 9, 45);
  const { cert } = selfSignedCertificate(undefined, { nowMs });
  const read = new X509Certificate(cert);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.checkIssued(read)).toBe(true);
  expect(read.validToDate.getTime() - nowMs).toBe(365 * 24 * 3600 * 1000);
  expect(read.validFromDate.getTime()).toBeLessThan(nowMs);
  for (const ip of ["127.0.0.1", "::1"]) expect(read.checkIP(ip)).toBe(ip);
  expect(read.checkHost("localhost")).toBe("localhost");
  expect(read.checkHost("example.com")).toBeUndefined();
});

test("other names and addresses can be in it, and no two have one number", () => {
  const hosts = ["emulator", "10.0.0.7", "fe80::1:2"];
  const [one, other] = [0, 0].map(() => new X509Certificate(selfSignedCertificate(hosts).cert));
  expect(one?.checkHost("emulator")).toBe("emulator");
  expect(one?.checkIP("10.0.0.7")).toBe("10.0.0.7");
  expect(one?.checkIP("fe80::1:2")).toBe("fe80::1:2");
  expect(one?.serialNumber).not.toBe(other?.serialNumber);
});
