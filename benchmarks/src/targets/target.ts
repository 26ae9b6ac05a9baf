import type { Questions } from "evaluator-client";
import type { GivenAnswers, MailState } from "../sample-requests.ts";
import type { ServiceAddresses } from "../server/start-server.ts";

/** One request. */
interface SampleRequest {
  readonly state: MailState;
  readonly questions: Questions;
}

/** Sends one request and gives its answers. */
export type Ask = (request: SampleRequest) => Promise<GivenAnswers>;

/** The addresses of a target, and the build of this SDK that it uses. */
export interface TargetSetUp {
  readonly addresses: ServiceAddresses;
  /** The folder of the built client. */
  readonly clientFolder: string;
}

/** One way to ask. Each library has its own file, so a process loads no other library. */
export type OpenTarget = (setUp: TargetSetUp) => Ask | Promise<Ask>;

/** Returns the answers of a response body without checks. */
export function answersIn(body: unknown): GivenAnswers {
  return (body as { answers: GivenAnswers }).answers;
}
