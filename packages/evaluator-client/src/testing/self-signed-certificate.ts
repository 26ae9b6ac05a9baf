import { generateKeyPairSync, sign } from "node:crypto";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

const SEQUENCE = 0x30;
const SET = 0x31;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const SUBJECT_ALTERNATIVE_NAME = "551d11";
/** Context-specific tags: the version and the extensions of a certificate, an IP address in a name. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const IP_ADDRESS = 0x87;

/** A certificate and its key. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

let trusted: Certificate | null = null;

/** Makes a certificate that this whole process trusts, once. */
export function trustedCertificate(): Certificate {
  if (trusted === null) {
    trusted = selfSignedCertificate("trusted");
    setDefaultCACertificates([...getCACertificates("default"), trusted.cert]);
  }
  return trusted;
}

/** Makes a key and a certificate of 127.0.0.1 that nobody but itself vouches for (X.509 version 3). */
export function selfSignedCertificate(name = "localhost"): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, Buffer.from(ECDSA_WITH_SHA256, "hex")));
  const commonName = der(
    SEQUENCE,
    der(OBJECT_IDENTIFIER, Buffer.from(COMMON_NAME, "hex")),
    der(UTF8_STRING, Buffer.from(name)),
  );
  const subject = der(SEQUENCE, der(SET, commonName));
  const validity = ["20000101000000Z", "20991231000000Z"].map((time) =>
    der(GENERALIZED_TIME, Buffer.from(time)),
  );
  const alternativeName = der(
    SEQUENCE,
    der(OBJECT_IDENTIFIER, Buffer.from(SUBJECT_ALTERNATIVE_NAME, "hex")),
    der(OCTET_STRING, der(SEQUENCE, der(IP_ADDRESS, Buffer.from([127, 0, 0, 1])))),
  );
  const certificate = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    algorithm,
    subject,
    der(SEQUENCE, ...validity),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(EXTENSIONS, der(SEQUENCE, alternativeName)),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign("sha256", certificate, privateKey));
  const base64 = der(SEQUENCE, certificate, algorithm, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

/** One DER element: tag, length, content. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
