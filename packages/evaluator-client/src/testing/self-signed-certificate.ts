import { generateKeyPairSync, sign } from "node:crypto";

const SEQUENCE = 0x30;
const SET = 0x31;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";

/** Makes a key and a certificate that nobody but itself vouches for (X.509 version 1). */
export function selfSignedCertificate(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, Buffer.from(ECDSA_WITH_SHA256, "hex")));
  const commonName = der(
    SEQUENCE,
    der(OBJECT_IDENTIFIER, Buffer.from(COMMON_NAME, "hex")),
    der(UTF8_STRING, Buffer.from("localhost")),
  );
  const name = der(SEQUENCE, der(SET, commonName));
  const validity = ["20000101000000Z", "20991231000000Z"].map((time) =>
    der(GENERALIZED_TIME, Buffer.from(time)),
  );
  const certificate = der(
    SEQUENCE,
    der(INTEGER, Buffer.from([1])),
    algorithm,
    name,
    der(SEQUENCE, ...validity),
    name,
    publicKey.export({ type: "spki", format: "der" }),
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
