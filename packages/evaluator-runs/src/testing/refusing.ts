import { StatusError, type Transport } from "evaluator-client";
import { sampleResponse } from "./samples.ts";

const details = {
  requestId: null,
  generationId: null,
  retryAfterMs: null,
  needsPaidCredits: false,
};
const said = 'The gateway answered 400: "Its maximum context length is 8192 tokens."';
const advice =
  'Check the request against the service\'s documentation. If the gateway speaks the other generation, set the option wire: "decision-model".';
const shorten =
  "The record is too long for the service. Shorten the record; it is asked again if it, the questions or the engine change.";
/** What is kept of the error that the service gives for a long state. */
export const words = `${said} ${shorten}`;

/** Returns the error of a status. */
export function statusError(status: number, message = `${said} ${advice}`) {
  return new StatusError(message, { ...details, status, type: null, isRetryable: false });
}

/** Returns a service that takes no long state, and which states it was asked about. */
export function refusing(named = "gateway") {
  const asked: string[] = [];
  const transport: Transport = {
    name: named,
    async send({ state }) {
      const { text = "" } = state as { text?: string };
      asked.push(text.length > 200 ? "long" : "short");
      if (text.length > 200) throw statusError(400);
      return { response: sampleResponse(), modelId: null, requestId: null, raw: null };
    },
  };
  return { transport, asked };
}
