import type { EvaluatorOptions, Question, Questions } from "evaluator-client";
import { loadClient, type Client } from "../client-build.ts";
import { apiKey } from "../sample-requests.ts";
import type { ServiceAddresses } from "../server/start-server.ts";
import type { Ask, TargetSetUp } from "./target.ts";

/** Opens this SDK as a person sets it up, with every check on. */
export async function openOwnGateway(setUp: TargetSetUp): Promise<Ask> {
  return await openOwn(setUp, gateway());
}

/** Opens the same over the global `fetch`, as in a browser. */
export async function openOwnGatewayOverFetch(setUp: TargetSetUp): Promise<Ask> {
  return await openOwn(setUp, gateway({ fetch: globalThis.fetch }));
}

/** Opens the same with questions built in each call, so that nothing learnt about them helps. */
export async function openOwnGatewayWithNewQuestions(setUp: TargetSetUp): Promise<Ask> {
  return await openOwn(setUp, { ...gateway(), areQuestionsKept: false });
}

/** Opens this SDK on the vendor's own API; without the vendor's limits, which would pace it. */
export async function openOwnDirect(setUp: TargetSetUp): Promise<Ask> {
  return await openOwn(setUp, direct());
}

/** Opens the same over the global `fetch`. */
export async function openOwnDirectOverFetch(setUp: TargetSetUp): Promise<Ask> {
  return await openOwn(setUp, direct({ fetch: globalThis.fetch }));
}

/** How this SDK is set up. */
interface OwnSetUp {
  readonly options: (client: Client, addresses: ServiceAddresses) => EvaluatorOptions;
  /** Whether the same questions are built once, as a person does. @default true */
  readonly areQuestionsKept?: boolean;
}

type Fetching = { fetch?: typeof globalThis.fetch };

function gateway(fetching: Fetching = {}): OwnSetUp {
  const access = { apiKey, modelId: "typesafe-ai/jev", env: {}, ...fetching };
  return {
    options: (client, { gateway: baseUrl }) => ({
      transport: client.gatewayTransport({ ...access, baseUrl }),
    }),
  };
}

function direct(fetching: Fetching = {}): OwnSetUp {
  const access = { apiKey, model: "jev-latest", env: {}, ...fetching };
  return {
    options: (client, { direct: baseUrl }) => ({
      transport: client.directTransport({ ...access, baseUrl }),
      limits: {},
    }),
  };
}

async function openOwn(
  { addresses, clientFolder }: TargetSetUp,
  { options, areQuestionsKept = true }: OwnSetUp,
): Promise<Ask> {
  const client = await loadClient(clientFolder);
  const evaluator = client.createEvaluator(options(client, addresses));
  const known = new Map<Questions, Questions>();
  return async ({ state, questions: given }) => {
    const questions = known.get(given) ?? buildAll(client, given);
    if (areQuestionsKept) known.set(given, questions);
    return (await evaluator.evaluate({ state, questions })).answers;
  };
}

/** Builds questions as a person does, with the client's own builders. */
function buildAll(client: Client, questions: Questions): Questions {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, build(client, question)]));
}

function build({ choice, score, boolean }: Client, question: Question): Question {
  const { type, instructions } = question;
  if (type === "choice") return choice(instructions, question.criteria);
  return type === "score" ? score(instructions, question.criteria) : boolean(instructions);
}
