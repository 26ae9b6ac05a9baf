// oxlint-disable unicorn/no-thenable -- `then` is a place in the list of services
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { boolean } from "evaluator-client";
import { closeServer, listen } from "evaluator-kit";
import { onTestFinished } from "vitest";
import type { EvaluationRecord } from "../evaluations/evaluation-record.ts";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { budgetRouter } from "./budget-router.ts";
import { calibrationOf } from "./calibration-of.ts";
import { readConfig } from "./read-config.ts";

/** The state of {@link questions}. */
export const state = "You have won the lottery";
/** The words of each question. */
export const instructions = "What is it?";
/** A question that the first service is unsure of, and one that it is sure of. */
export const questions = {
  scam: { type: "noul", instructions },
  kind: { type: "choice", instructions, criteria: { prize: "a lottery", other: "the rest" } },
};

/** What a service does in place of an answer. */
export type Fault = (response: ServerResponse) => void;

/** A service of the vendor's form that bills a token for each byte and 200 more, also if its answer is lost. */
async function startService(model: string, usdPerMillion: number, yes: number) {
  const service = { asked: [] as string[][], billedNano: 0, faults: [] as Fault[] };
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const ids = Object.keys((JSON.parse(sent) as { questions: object }).questions);
      const tokens = Buffer.byteLength(sent) + 200;
      service.asked.push(ids);
      service.billedNano += tokens * usdPerMillion * 1000;
      const fault = service.faults.shift();
      if (fault !== undefined) return fault(response);
      const probabilities = { prize: 0.9, other: 0.1 };
      const known = {
        scam: { type: "noul", noul: yes },
        kind: { type: "choice", choice: "prize", probabilities },
      };
      const answers = Object.fromEntries(Object.entries(known).filter(([id]) => ids.includes(id)));
      response.end(
        JSON.stringify({ model, answers, usage: { input_tokens: tokens, output_tokens: 1 } }),
      );
    });
  });
  const { origin: baseUrl } = await listen(server, { port: 0 });
  onTestFinished(() => closeServer(server));
  const row = { service: "typesafe", baseUrl, model, price: { input: usdPerMillion } };
  return Object.assign(service, { row });
}

interface Given {
  readonly unsure?: string | readonly string[];
  /** When an answer of the second service is unsure. */
  readonly ownUnsure?: string;
  /** The model that the second service names. */
  readonly secondModel?: string;
  readonly hasLogText?: boolean;
  readonly usdPerDay?: number;
  readonly calibrations?: readonly CalibrationArtifact[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A router of two services; the second one is asked again, and is twenty times as dear. */
export async function twoServices({
  unsure = "0.8",
  ownUnsure,
  secondModel = "large",
  hasLogText = false,
  usdPerDay = 1,
  calibrations = [],
  env = {},
}: Given = {}) {
  const first = await startService("small", 1, 0.6);
  const second = await startService(secondModel, 20, 0.99);
  const decisions = [
    { ...first.row, then: 1, unsure },
    { ...second.row, unsure: ownUnsure },
  ];
  const services = connectServices(parseRouterOptions(env, await readConfig({ decisions }, {})));
  onTestFinished(() => services.close());
  const records: EvaluationRecord[] = [];
  const router = await budgetRouter(
    usdPerDay,
    {},
    {
      services,
      hasLogText,
      calibrations: Map.groupBy(calibrations, ({ questionHash: hash }) => hash ?? ""),
      observeEvaluation: (record: EvaluationRecord) => void records.push(record),
    },
  );
  const ask = async (path = "/v1/systemone", body: object = { state, questions }) => {
    const response = await router.post(path, body);
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as { x_route?: object } };
  };
  const billedNano = () => first.billedNano + second.billedNano;
  return { ...router, services, first, second, records, ask, billedNano };
}

const scam = boolean(instructions);
/** A promise of the first service for it. */
export const promised = {
  ...calibrationOf("small"),
  kind: "none",
  parameters: {},
  questionHash: questionHash({ scam }),
  thresholds: [
    {
      question: "scam",
      action: "yes",
      threshold: 0.7,
      maxRisk: 0.05,
      confidence: 0.95,
      n: 200,
      wrong: 2,
    },
  ],
} as CalibrationArtifact;
