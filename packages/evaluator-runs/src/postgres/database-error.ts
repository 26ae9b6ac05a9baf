import { EvaluatorError } from "evaluator-client";

/** Why the database failed, as far as callers act differently. */
export type DatabaseFailure =
  | "unreachable"
  | "certificate"
  | "busy"
  | "denied"
  | "read-only"
  | "full"
  | "too-old"
  | "newer-schema"
  | "connection-options"
  | "no-run"
  | "query"
  | "query-role"
  | "query-size"
  | "query-time"
  | "other";

/** A failure of PostgreSQL; names no URL, host or user, but the role in `query-role`. */
export class DatabaseError extends EvaluatorError {
  /** The kind of failure. */
  readonly failure: DatabaseFailure;
  /** PostgreSQL's own code (SQLSTATE) or the system's (`ECONNREFUSED`), or null. */
  readonly code: string | null;

  constructor(
    message: string,
    { failure, code = null }: { failure: DatabaseFailure; code?: string | null },
  ) {
    super(message, { isRetryable: failure === "unreachable" || failure === "busy" });
    this.failure = failure;
    this.code = code;
  }
}

/** The failures that `pg` reports; versions are checked by queries. */
type ReportedFailure = Exclude<
  DatabaseFailure,
  "too-old" | "newer-schema" | "no-run" | `query${string}`
>;

const advice: Readonly<Record<ReportedFailure, string>> = {
  unreachable:
    "PostgreSQL cannot be reached. Check that it runs, and the connection's host, port and TLS.",
  certificate:
    "PostgreSQL's TLS certificate is not trusted. Name its authority (sslrootcert=ca.pem in the URL, or ssl.ca), and the host as in the certificate.",
  busy: "PostgreSQL has too many connections, or a deadlock. Raise max_connections, or lower max in the connection options.",
  denied:
    "PostgreSQL refused this user. Check user, password, database, and grants on the schema evaluator.",
  "read-only":
    "PostgreSQL is read-only. Connect to the primary, or unset default_transaction_read_only.",
  full: "PostgreSQL's disk is full. Make room there and try again.",
  "connection-options":
    "The connection to PostgreSQL is malformed. Write postgres://user:password@host:5432/database, percent-encoded and with existing files, or the options of pg.",
  other: "PostgreSQL refused a statement. Check that the schema evaluator is unchanged.",
};

// SQLSTATE codes and classes; appendix A of PostgreSQL's manual lists them.
const failureOfState: Readonly<Record<string, ReportedFailure>> = {
  "08": "unreachable",
  "25006": "read-only",
  "28": "denied",
  "40P01": "busy",
  "3D000": "denied",
  "42501": "denied",
  "53100": "full",
  "53300": "busy",
  "57P": "unreachable",
};

// Codes of OpenSSL and Node for an invalid certificate.
const ofCertificate =
  /^(?:CERT_|ERR_TLS_CERT|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_)/;

/**
 * Converts an error of `pg`. Keeps only its code: its text and fields contain host, user or, after a
 * misread URL, parts of the password.
 */
export function toDatabaseError(error: unknown): DatabaseError {
  const code = findCode(error);
  return describeFailure(toFailure(error, code), code);
}

/** Returns the error of a failure that is known without one of `pg`. */
export function describeFailure(failure: ReportedFailure, code: string | null = null) {
  const note = code === null ? "" : ` (code ${code})`;
  return new DatabaseError(`${advice[failure]}${note}`, { failure, code });
}

/** Returns PostgreSQL's or the system's code of an error, or null. */
function findCode(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[A-Z0-9_]{3,60}$/.test(code) ? code : null;
}

function toFailure(error: unknown, code: string | null): ReportedFailure {
  const isState = code !== null && /^[0-9A-Z]{5}$/.test(code) && "severity" in Object(error);
  if (!isState) {
    if (code !== null && ofCertificate.test(code)) return "certificate";
    return code?.startsWith("ERR_INVALID") ? "connection-options" : "unreachable";
  }
  const names = [code, code.slice(0, 3), code.slice(0, 2)];
  return names.map((name) => failureOfState[name]).find((failure) => failure) ?? "other";
}
