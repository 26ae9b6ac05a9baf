import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP, isIPv4 } from "node:net";

/** A certificate and its key, each in PEM. */
export type Certificate = Readonly<Record<"key" | "cert", string>>;

// Tags of X.509 (RFC 5280) for one self-signed certificate.
const sequenceTag = 0x30;
const setTag = 0x31;
const utf8StringTag = 0x0c;
const utcTimeTag = 0x17;
const integerTag = 0x02;
const bitStringTag = 0x03;
const octetStringTag = 0x04;
const versionTag = 0xa0;
const extensionsTag = 0xa3;
const dnsNameTag = 0x82;
const ipAddressTag = 0x87;
// Object identifiers with their tag and length.
const ecdsaWithSha256Id = Buffer.from("06082a8648ce3d040302", "hex");
const commonNameId = Buffer.from("0603550403", "hex");
const alternativeNameId = Buffer.from("0603551d11", "hex");

const dayMs = 24 * 3600 * 1000;
const loopbackHosts = ["localhost", "127.0.0.1", "::1"];

/** Makes a key and a certificate, valid for a year, for this machine and other names or addresses. */
export function selfSignedCertificate(
  otherHosts: readonly string[] = [],
  { nowMs = Date.now(), name = "localhost" } = {},
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = encodeElement(sequenceTag, ecdsaWithSha256Id);
  const namedBytes = encodeElement(
    sequenceTag,
    commonNameId,
    encodeElement(utf8StringTag, Buffer.from(name)),
  );
  const subject = encodeElement(sequenceTag, encodeElement(setTag, namedBytes));
  const validity = [nowMs - dayMs, nowMs + 365 * dayMs].map((timeMs) =>
    encodeElement(utcTimeTag, encodeUtcTime(timeMs)),
  );
  const hostNames = encodeElement(
    sequenceTag,
    ...[...loopbackHosts, ...otherHosts].map(encodeHostName),
  );
  const alternatives = encodeElement(
    sequenceTag,
    alternativeNameId,
    encodeElement(octetStringTag, hostNames),
  );
  // Positive and random: browsers refuse two certificates with one number.
  const serialNumber = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
  const certificate = encodeElement(
    sequenceTag,
    encodeElement(versionTag, encodeElement(integerTag, Buffer.from([2]))),
    encodeElement(integerTag, serialNumber),
    algorithm,
    subject,
    encodeElement(sequenceTag, ...validity),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    encodeElement(extensionsTag, encodeElement(sequenceTag, alternatives)),
  );
  const signature = encodeElement(
    bitStringTag,
    Buffer.from([0]),
    sign("sha256", certificate, privateKey),
  );
  const pemLines = encodeElement(sequenceTag, certificate, algorithm, signature)
    .toString("base64")
    .match(/.{1,64}/g);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${pemLines?.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function encodeHostName(host: string): Buffer {
  return isIP(host) === 0
    ? encodeElement(dnsNameTag, Buffer.from(host))
    : encodeElement(ipAddressTag, encodeAddress(host));
}

function encodeAddress(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [leadingGroups = "", trailingGroups] = address.split("::");
  const [leadingHex, trailingHex] = [toHexDigits(leadingGroups), toHexDigits(trailingGroups)];
  return Buffer.from(leadingHex.padEnd(32 - trailingHex.length, "0") + trailingHex, "hex");
}

function toHexDigits(addressGroups = ""): string {
  return addressGroups
    .replace(/[^:]+/g, (hexGroup) => hexGroup.padStart(4, "0"))
    .replaceAll(":", "");
}

/** Such as 261122094500Z. */
function encodeUtcTime(timeMs: number): Buffer {
  const timeDigits = new Date(timeMs).toISOString().replaceAll(/[-:T]/g, "");
  return Buffer.from(`${timeDigits.slice(2, 14)}Z`);
}

/** One DER element: tag, length, content. */
function encodeElement(tag: number, ...contentParts: Uint8Array[]): Buffer {
  const contentBytes = Buffer.concat(contentParts);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(contentBytes.length)]), contentBytes]);
}

function encodeLength(contentLength: number): number[] {
  if (contentLength < 0x80) return [contentLength];
  return contentLength < 0x100
    ? [0x81, contentLength]
    : [0x82, contentLength >> 8, contentLength & 0xff];
}
