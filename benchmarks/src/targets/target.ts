import type { Questions } from "evaluator-client";
import type { GivenAnswers, MailState } from "../sample-requests.ts";
import type { ServiceAddresses } from "../server/start-server.ts";

/** What one call sends. */
interface SampleRequest {
  readonly state: MailState;
  readonly questions: Questions;
}

/** Sends one request and gives its answers. */
export type Ask = (request: SampleRequest) => Promise<GivenAnswers>;

/** Where a target sends its requests, and which build of this SDK it uses. */
export interface TargetSetUp {
  readonly addresses: ServiceAddresses;
  /** The folder of the built client. */
  readonly clientFolder: string;
}

/** One way to ask. Each library has a file of its own, so that a process loads no other library. */
export type OpenTarget = (setUp: TargetSetUp) => Ask | Promise<Ask>;

/** Returns the answers of a response body, taken at its word. */
export function answersIn(body: unknown): GivenAnswers {
  return (body as { answers: GivenAnswers }).answers;
}
