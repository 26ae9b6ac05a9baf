import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP, isIPv4 } from "node:net";

/** A certificate and its key, each in PEM. */
export type Certificate = Readonly<Record<"key" | "cert", string>>;

// Tags of X.509 (RFC 5280) for one self-signed certificate.
const sequence = 0x30;
const set = 0x31;
const utf8String = 0x0c;
const utcTime = 0x17;
const integer = 0x02;
const bitString = 0x03;
const octetString = 0x04;
const version = 0xa0;
const extensions = 0xa3;
const dnsName = 0x82;
const ipAddress = 0x87;
// Object identifiers with their tag and length.
const ecdsaWithSha256 = Buffer.from("06082a8648ce3d040302", "hex");
const commonName = Buffer.from("0603550403", "hex");
const subjectAlternativeName = Buffer.from("0603551d11", "hex");

const dayMs = 24 * 3600 * 1000;
const ownHosts = ["localhost", "127.0.0.1", "::1"];

/** Makes a key and a certificate, valid for a year, for this machine and other names or addresses. */
export function selfSignedCertificate(
  otherHosts: readonly string[] = [],
  { nowMs = Date.now(), name = "localhost" } = {},
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(sequence, ecdsaWithSha256);
  const namedBytes = der(sequence, commonName, der(utf8String, Buffer.from(name)));
  const subject = der(sequence, der(set, namedBytes));
  const validity = [nowMs - dayMs, nowMs + 365 * dayMs].map((ms) => der(utcTime, toTime(ms)));
  const names = der(sequence, ...[...ownHosts, ...otherHosts].map(hostName));
  const alternatives = der(sequence, subjectAlternativeName, der(octetString, names));
  // Positive and random: browsers refuse two certificates with one number.
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
  const certificate = der(
    sequence,
    der(version, der(integer, Buffer.from([2]))),
    der(integer, serial),
    algorithm,
    subject,
    der(sequence, ...validity),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(extensions, der(sequence, alternatives)),
  );
  const signature = der(bitString, Buffer.from([0]), sign("sha256", certificate, privateKey));
  const lines = der(sequence, certificate, algorithm, signature)
    .toString("base64")
    .match(/.{1,64}/g);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines?.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function hostName(host: string): Buffer {
  return isIP(host) === 0 ? der(dnsName, Buffer.from(host)) : der(ipAddress, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = address.split("::");
  const [before, after] = [toHex(head), toHex(tail)];
  return Buffer.from(before.padEnd(32 - after.length, "0") + after, "hex");
}

function toHex(groups = ""): string {
  return groups.replace(/[^:]+/g, (group) => group.padStart(4, "0")).replaceAll(":", "");
}

/** Such as 261122094500Z. */
function toTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, "");
  return Buffer.from(`${digits.slice(2, 14)}Z`);
}

/** One DER element: tag, length, content. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...computeLength(body.length)]), body]);
}

function computeLength(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
