import * as fc from "fast-check";
import { checkAnswers, type Questions } from "evaluator-client";
import { expect, test } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import { mapRecord } from "./json.ts";
import { randomRequest, type RandomRequest } from "./testing/random-request.ts";

// Of five defects put in by hand, the rarest showed by the 114th request.
const requests = 4000;
const emulator = createEmulator({ exchanges: [] });

async function send({ method, path, headers, body }: RandomRequest): Promise<Response> {
  const hasBody = method !== "GET" && method !== "HEAD";
  return emulator.fetch(path.startsWith("//") ? "/" : path, {
    method,
    headers,
    ...(hasBody && { body }),
  });
}

type Named = Record<string, Record<string, unknown>>;

function toGatewayForm(records: Named): Named {
  return mapRecord(records, ({ type, noul, ...rest }) =>
    type === "noul" ? { ...rest, type: "boolean", probability: noul } : { ...rest, type },
  );
}

const evaluation = /(?:(?:evaluation|decision)-model|systemone|decisions|@cf\/.+)$/;

test(`${requests} random requests never crash it, and every answer passes the check`, async () => {
  const seen = { answered: 0, rejected: 0, paths: new Set<string>() };
  const property = fc.asyncProperty(randomRequest, async (request) => {
    const response = await send(request);
    if (response.status >= 500) return false;
    const text = await response.text();
    if (response.status !== 200) seen.rejected += 1;
    else if (evaluation.test(request.path)) {
      // A lone half of a surrogate pair has no UTF-8 form.
      const sent = request.body.toWellFormed();
      const { questions } = JSON.parse(sent) as { questions: Named };
      const { result, ...whole } = JSON.parse(text) as { answers: Named; result?: typeof whole };
      const { answers } = result ?? whole;
      seen.paths.add(request.path);
      if (Array.isArray(questions)) return Object.keys(answers).length === questions.length;
      const decimals = /model$|direct|^\/v1\/systemone|alpha/.test(request.path) ? 2 : 4;
      checkAnswers({
        questions: toGatewayForm(questions) as unknown as Questions,
        answers: toGatewayForm(answers),
        rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
      });
      seen.answered += 1;
    }
    return true;
  });
  await fc.assert(property, { numRuns: requests, seed: 2026 });
  expect(seen.answered).toBeGreaterThan(requests / 4);
  expect(seen.rejected).toBeGreaterThan(requests / 4);
  expect(seen.paths.size).toBe(9);
});
