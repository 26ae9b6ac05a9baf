import { setDefaultCACertificates } from "node:tls";
import { type Certificate, selfSignedCertificate } from "evaluator-kit";

let trusted: Certificate | null = null;

/** Makes a certificate, once, that this whole process trusts from then on, and no other. */
export function trustedCertificate(): Certificate {
  if (trusted === null) {
    trusted = selfSignedCertificate(undefined, { name: "trusted" });
    setDefaultCACertificates([trusted.cert]);
  }
  return trusted;
}
