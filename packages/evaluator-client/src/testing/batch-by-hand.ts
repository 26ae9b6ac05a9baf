import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import type { Evaluation } from "../evaluation.ts";
import { boolean } from "../questions/kinds.ts";
import type { EvaluationRequest } from "../questions/request.ts";

const questions = { scam: boolean("scam?") };

/** Returns a request whose state is its index. */
export function requestFor(index: number): EvaluationRequest {
  return { state: String(index), questions };
}

function textOf({ state }: EvaluationRequest): string {
  return typeof state === "string" ? state : expect.unreachable();
}

/** Yields requests without end; notes which were read. */
export function* endlessly(read: number[] = []) {
  for (let index = 0; ; index += 1) {
    read.push(index);
    yield requestFor(index);
  }
}

/** Returns an answer to a request, with tokens and a price. */
export function evaluationOf({ state }: EvaluationRequest): Evaluation {
  const usage = { inputTokens: 10, outputTokens: 1 };
  return { raw: state, usage, costUsd: 0.5 } as Partial<Evaluation> as Evaluation;
}

/** Answers that a test gives by hand; notes how many were open at once. */
export function answersByHand() {
  const open = new Map<string, { answer(): void; fail(error: Error): void }>();
  const seen = { most: 0, aborted: 0 };
  const evaluateUntil = (signal: AbortSignal) => (request: EvaluationRequest) =>
    new Promise<Evaluation>((resolve, reject) => {
      const state = textOf(request);
      const close = () => open.delete(state);
      open.set(state, {
        answer: () => (close(), resolve(evaluationOf(request))),
        fail: (error) => (close(), reject(error)),
      });
      seen.most = Math.max(seen.most, open.size);
      signal.addEventListener("abort", () => {
        seen.aborted += 1;
        reject(signal.reason);
      });
    });
  return { open, seen, evaluateUntil };
}

/** Lets what is under way settle. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}
