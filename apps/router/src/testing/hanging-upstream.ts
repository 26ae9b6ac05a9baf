import type { Answer } from "./test-gateway.ts";

/** An upstream that never answers, and says when it is reached and let go. */
export function hangingUpstream() {
  const reached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const answer: Answer = ({ signal }) => {
    const { promise, reject } = Promise.withResolvers<Response>();
    signal.addEventListener("abort", () => {
      ended.resolve();
      reject(signal.reason);
    });
    reached.resolve();
    return promise;
  };
  return { answer, reached: reached.promise, ended: ended.promise };
}
