import {
  checkLength,
  createEvaluator,
  directTransport,
  type Evaluation,
  type EvaluationRequest,
  type Evaluator,
  gatewayTransport,
  InvalidRequestError,
  mostCostUsd,
  type Middleware,
  serviceRows,
  type Transport,
} from "evaluator-client";
import type { Pacer, State, StatePart, Tracing } from "evaluator-client";
import type { DecisionOptions, RouterConfig, UnsureWord } from "../config/router-config.ts";

/** A service that answers typed questions. */
export interface DecisionService {
  readonly name: string;
  /** The model that it is asked for. */
  readonly model: string;
  readonly evaluator: Evaluator;
  /** Its name and address, as records have them. */
  readonly address: string;
  /** The service that is asked again for unsure answers, and when one is unsure; null for none. */
  readonly next: {
    readonly service: DecisionService;
    readonly unsure: readonly UnsureWord[];
    /** When an answer of the service that is asked again is unsure, too. */
    readonly ownUnsure: readonly UnsureWord[];
  } | null;
  /** Whether a state may be a list of parts. */
  readonly takesParts: boolean;
  /** Returns the error of a request that it does not take, or null; sends nothing. */
  readonly problemWith: (request: EvaluationRequest) => Promise<InvalidRequestError | null>;
  /** Returns the most US dollars that one attempt of a request can cost; null without a price. */
  readonly mostCostOf: (request: EvaluationRequest) => number | null;
  /** Returns the price of an evaluation in US dollars; null if unknown. */
  readonly costOf: (evaluation: Pick<Evaluation, "costUsd" | "usage">) => number | null;
}

/** The services in the order in which they are asked, and the clients' names of models. */
export interface DecisionServices {
  readonly list: readonly [DecisionService, ...DecisionService[]];
  /** Place in the list by a client's name of a model. */
  readonly models: ReadonlyMap<string, number>;
}

/** The parts of the evaluators of services. */
interface ConnectParts {
  readonly tracing: Tracing | null;
  /** Creates the pacer that several routers share, for a transport and its key. */
  readonly pacerFor: ((transport: Transport, key: string) => Pacer) | null;
  /** Buys equal answers once. */
  readonly cache: Middleware | null;
}

/** Connects the services of the file; the router's own evaluator is the service without one. @throws ConfigurationError */
export function connectDecisions(
  config: Pick<RouterConfig, "decisions" | "models"> | null,
  ownService: DecisionService,
  parts: ConnectParts,
): DecisionServices {
  const { decisions = [], models = new Map<string, number>() } = config ?? {};
  const withCache = (service: DecisionService): DecisionService =>
    parts.cache === null ? service : { ...service, evaluator: service.evaluator.with(parts.cache) };
  const services = decisions.map((options) => withCache(connect(options, parts)));
  for (const [serviceIndex, { then, unsure }] of decisions.entries()) {
    const nextService = then === null ? undefined : services[then];
    if (nextService !== undefined && unsure !== null)
      Object.assign(services[serviceIndex] as DecisionService, {
        next: { service: nextService, unsure, ownUnsure: decisions[then ?? 0]?.unsure ?? [] },
      });
  }
  const [firstService = withCache(ownService), ...laterServices] = services;
  return { list: [firstService, ...laterServices], models };
}

function connect(options: DecisionOptions, { tracing, pacerFor }: ConnectParts): DecisionService {
  const { service, price, apiKey } = options;
  const transport = toTransport(options);
  const pacer = pacerFor?.(transport, apiKey ?? "");
  const reportsCost = service === "gateway" || serviceRows[service].reportsCost === true;
  const pricedService = { transport, price, reportsCost };
  const evaluator = createEvaluator({
    transport,
    env: {},
    ...(pacer !== undefined && { pacer }),
    ...(tracing !== null && { tracing: withCosts(tracing, createPricing(pricedService)) }),
  });
  return toService({ name: service, evaluator, ...pricedService });
}

/** Traces evaluations with the costs of the log, which know the prices of the file. */
function withCosts(tracing: Tracing, costOf: DecisionService["costOf"]): Tracing {
  return (tracedCall, runTraced) =>
    tracing(tracedCall, async (hooks) => {
      const evaluation = await runTraced(hooks);
      return { ...evaluation, costUsd: costOf(evaluation) };
    });
}

function toTransport({ service, model, apiKey, baseUrl, accountId }: DecisionOptions): Transport {
  const addressOptions = { ...(baseUrl !== null && { baseUrl }), env: {} };
  if (service === "gateway")
    return gatewayTransport({
      ...addressOptions,
      ...(apiKey !== null && { apiKey }),
      ...(model !== null && { modelId: model }),
    });
  const modelOptions = {
    ...(model !== null && { model }),
    ...(accountId !== null && { accountId }),
  };
  return directTransport({ service, apiKey, ...addressOptions, ...modelOptions });
}

interface ServiceParts extends Pick<DecisionService, "name" | "evaluator"> {
  readonly transport: Transport;
  /** US dollars for a million input tokens; null for the service's usual one. */
  readonly price: number | null;
  readonly reportsCost: boolean;
}

/** Returns a service with its prices. */
export function toService({ name, evaluator, ...pricedService }: ServiceParts): DecisionService {
  const { transport } = pricedService;
  const usdPerMillionTokens = findPrice(pricedService);
  return {
    name,
    evaluator,
    model: transport.target?.modelId ?? "unknown",
    address: `${name} ${toAddress(transport)}`,
    next: null,
    takesParts: transport.images !== undefined,
    problemWith: (request) => problemWith(request, { evaluator, transport }),
    mostCostOf(request) {
      if (usdPerMillionTokens === null) return null;
      return mostCostUsd(request, { inputUsdPerMillionTokens: usdPerMillionTokens, transport });
    },
    costOf: createPricing(pricedService),
  };
}

type PricedParts = Omit<ServiceParts, "name" | "evaluator">;

/** Returns US dollars for a million input tokens; null if unknown. */
function findPrice({ price, transport }: PricedParts): number | null {
  return price ?? transport.usdPerMillionTokens ?? null;
}

function createPricing(pricedParts: PricedParts): DecisionService["costOf"] {
  const usdPerMillionTokens = findPrice(pricedParts);
  const isReported = pricedParts.reportsCost || pricedParts.price === null;
  return ({ costUsd, usage }) => {
    const reportedUsd = isReported ? costUsd : null;
    if (reportedUsd !== null || usage === null || usdPerMillionTokens === null) return reportedUsd;
    return (usage.inputTokens * usdPerMillionTokens) / 1_000_000;
  };
}

/** Answers without asking, so that only the client's checks run, which come before its middleware. */
const answerNothing: Middleware = () => Promise.resolve({} as never);

async function problemWith(
  request: EvaluationRequest,
  { evaluator, transport }: Pick<ServiceParts, "evaluator" | "transport">,
): Promise<InvalidRequestError | null> {
  try {
    await evaluator.with(answerNothing).evaluate(request);
    checkLength(request, transport);
    return null;
  } catch (error) {
    if (error instanceof InvalidRequestError) return error;
    throw error;
  }
}

/** Returns a state for services; those without parts get the JSON of a list. */
export function stateFor(services: readonly DecisionService[], state: State): State {
  if (!Array.isArray(state) || services.every(({ takesParts }) => takesParts)) return state;
  const stateParts = state as readonly StatePart[];
  const partValues = stateParts.flatMap((part) => {
    return typeof part === "string" ? [part] : "json" in part ? [part.json] : [];
  });
  // A state with an image stays in parts, so that the client reports a service without images.
  return partValues.length < stateParts.length ? state : JSON.stringify(partValues);
}

/** Returns a transport's address, without user name or password. */
export function toAddress({ target }: Transport): string {
  if (target === undefined) return "its own address";
  const { protocol, host, pathname } = new URL(target.url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
