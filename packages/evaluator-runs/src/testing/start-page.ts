import { onTestFinished } from "vitest";
import type { Start, StartContext } from "./start-in-process.ts";

/** Starts a command that serves a page, and returns its address and its end. */
export async function startPage(start: Start, words: readonly string[], given: StartContext) {
  const interruption = new AbortController();
  const ready = Promise.withResolvers<string>();
  const said: string[] = [];
  const stderr = {
    write(text: string) {
      said.push(text);
      const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (origin !== undefined) ready.resolve(origin);
    },
  };
  const ended = start(words, { ...given, stderr, signal: interruption.signal });
  const failed = ended.then(() => Promise.reject(new Error(`It ended early: ${said.join("")}`)));
  const origin = await Promise.race([ready.promise, failed]);
  const stop = async () => {
    interruption.abort(new Error("stop"));
    return { ...(await ended), said: said.join("") };
  };
  onTestFinished(async () => void (await stop()));
  return { origin, ended, stop };
}
