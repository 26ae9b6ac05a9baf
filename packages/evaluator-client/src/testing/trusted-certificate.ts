import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { type Certificate, selfSignedCertificate } from "evaluator-cli-kit";

let trusted: Certificate | null = null;

/** Makes a certificate that this whole process trusts, once. */
export function trustedCertificate(): Certificate {
  if (trusted === null) {
    trusted = selfSignedCertificate(undefined, { name: "trusted" });
    setDefaultCACertificates([...getCACertificates("default"), trusted.cert]);
  }
  return trusted;
}
